import type { parse } from '@bufbuild/cel'
import { environment } from './environment.ts'
import { LIMITS } from './limits.ts'

type Expr = NonNullable<ReturnType<typeof parse>['expr']>
type Path = readonly string[]

/** The access paths of an expression. */
export interface Inspection {
  /** Static access paths from each root, e.g. `['deployItems', 'db', 'exports', 'url']`, each once. */
  readonly references: readonly Path[]
  /** The path if the expression is one and no more, so that it yields what is there. */
  readonly path: Path | null
  /** A key or index is computed, so that messages must not name a missing key. */
  readonly dynamic: boolean
}

export class InspectionError extends Error {}

const TYPES = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'list', 'map', 'null_type', 'type'])
const INDEX = '_[_]'

interface State {
  readonly references: Map<string, Path>
  dynamic: boolean
  nodes: number
}
interface Around {
  readonly locals: ReadonlySet<string>
  readonly macros: number
}

/** Reads the syntax tree; throws InspectionError when it is too large or calls what does not exist. */
export function inspect(expr: Expr): Inspection {
  const state: State = { references: new Map(), dynamic: false, nodes: 0 }
  const whole = visit(expr, state, { locals: new Set(), macros: 0 })
  return {
    references: [...state.references.values()],
    path: whole?.open ? whole.keys : null,
    dynamic: state.dynamic,
  }
}

function visit(expr: Expr | undefined, state: State, around: Around): Chain | null {
  if (!expr) return null
  const path = chain(expr, state, around)
  if (path && !(path.keys.length === 1 && TYPES.has(path.keys[0] as string))) {
    state.references.set(JSON.stringify(path.keys), path.keys)
  }
  return path
}

interface Chain {
  readonly keys: Path
  /** False after a computed key, of which the rest of the path is unknown before the run, and of `has(…)`, which yields no member. */
  readonly open: boolean
}

/** The access path of an expression that is one; visits its other parts. */
function chain(expr: Expr, state: State, around: Around): Chain | null {
  if (++state.nodes > LIMITS.nodes) throw new InspectionError(`it has more than ${LIMITS.nodes} syntax nodes`)
  const { exprKind: kind } = expr
  switch (kind.case) {
    case 'identExpr': {
      const name = kind.value.name.replace(/^\./, '')
      return around.locals.has(name) ? null : { keys: [name], open: true }
    }
    case 'selectExpr': {
      const base = kind.value.operand ? chain(kind.value.operand, state, around) : null
      return base?.open ? { keys: [...base.keys, kind.value.field], open: !kind.value.testOnly } : base
    }
    case 'callExpr':
      return kind.value.function === INDEX
        ? chainIndex(kind.value.args, state, around)
        : visitCall(kind.value, state, around)
    case 'listExpr':
      for (const element of kind.value.elements) visit(element, state, around)
      return null
    case 'structExpr':
      visitStruct(kind.value, state, around)
      return null
    case 'comprehensionExpr':
      visitMacro(kind.value, state, around)
      return null
    default:
      return null
  }
}

function chainIndex([operand, index]: readonly Expr[], state: State, around: Around): Chain | null {
  const base = operand ? chain(operand, state, around) : null
  const constant = index?.exprKind.case === 'constExpr' ? index.exprKind.value.constantKind : undefined
  visit(index, state, around)
  if (!constant) state.dynamic = true
  if (!base?.open) return base
  return constant?.case === 'stringValue'
    ? { keys: [...base.keys, constant.value], open: true }
    : { ...base, open: false }
}

type Kind<C extends Expr['exprKind']['case']> = Extract<Expr['exprKind'], { case: C }>['value']

function visitCall(call: Kind<'callExpr'>, state: State, around: Around): null {
  const { target } = call
  const qualified =
    target?.exprKind.case === 'identExpr'
      ? environment.funcs.find(`${target.exprKind.value.name}.${call.function}`)
      : undefined
  // Operators and expanded macros are not among the functions; users cannot write their names.
  if (
    !qualified &&
    /^\w/.test(call.function) &&
    !call.function.startsWith('_') &&
    !environment.funcs.find(call.function)
  ) {
    throw new InspectionError(`there is no function ${call.function}`)
  }
  if (!qualified) visit(target, state, around)
  for (const argument of call.args) visit(argument, state, around)
  return null
}

function visitStruct(struct: Kind<'structExpr'>, state: State, around: Around): void {
  if (struct.messageName) throw new InspectionError('it may not create messages, only maps')
  for (const { keyKind, value } of struct.entries) {
    if (keyKind.case === 'mapKey') visit(keyKind.value, state, around)
    visit(value, state, around)
  }
}

function visitMacro(macro: Kind<'comprehensionExpr'>, state: State, around: Around): void {
  // A macro in the range of another runs before it, once: only one in its body multiplies.
  visit(macro.iterRange, state, around)
  const macros = around.macros + 1
  if (macros > LIMITS.macros) throw new InspectionError(`macros are nested more than ${LIMITS.macros} deep`)
  const inside = { locals: new Set([...around.locals, macro.iterVar, macro.accuVar]), macros }
  for (const part of [macro.accuInit, macro.loopCondition, macro.loopStep, macro.result]) visit(part, state, inside)
}
