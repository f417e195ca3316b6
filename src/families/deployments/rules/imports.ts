import { isFinished, type Node, type Slice } from '../../../core/tree.ts'
import type { Phase, ReconcileMode } from '../../../core/vocabulary.ts'
import { installation, isForced } from './details.ts'
import { defaultOf, scopeImports } from './scope.ts'
import type { ImportSpec, InstallationSpec } from './spec.ts'

declare module '../../../core/tree.ts' {
  interface FamilyQuestions {
    rootScope: { readonly args: ScopeArgs; readonly answer: readonly ScopeEntry[] }
    pinScope: { readonly args: ScopeArgs; readonly answer: readonly ScopeEntry[] }
  }
}

/** Sources of the values of an installation's imports, and whether these are ready. */

/** One name of a project's scope: the data, and the root that exports it, if one does. */
export interface ScopeEntry {
  readonly name: string
  readonly exists: boolean
  readonly value: unknown
  readonly exporter: null | {
    readonly id: string
    readonly name: string
    /** SUCCEEDED, up to date, no job running or pending, not being deleted. */
    readonly ready: boolean
    /** Its deletion runs or is pending, so nothing more is imported from it. */
    readonly going: boolean
  }
}

/** The stored state of an exporter. */
export interface ExporterState {
  readonly phase: Phase
  readonly generation: number
  readonly observedGeneration: number
  readonly jobId: string | null
  readonly finishedJobId: string | null
  readonly deletionRequestedAt: Date | null
  readonly nextMode: ReconcileMode | null
  readonly nextDeletion: boolean
}

export const isReady = (state: ExporterState): boolean =>
  state.phase === 'SUCCEEDED' &&
  state.observedGeneration === state.generation &&
  isFinished(state) &&
  state.nextMode === null &&
  !state.nextDeletion &&
  state.deletionRequestedAt === null

export interface Gathered {
  /** `never`: the import cannot become available in this job any more. */
  readonly state: 'ready' | 'waiting' | 'never'
  /** Null if a required import is missing. */
  readonly values: Readonly<Record<string, unknown>> | null
  readonly code: 'PREDECESSOR_FAILED' | 'IMPORT_MISSING'
  readonly message: string
}

export const importsOf = (spec: unknown): readonly ImportSpec[] => (spec as InstallationSpec).imports

export function gatherImports(node: Node, slice: Slice): Gathered | undefined {
  const spec = slice.spec(node)
  if (spec === undefined) return undefined
  const parent = slice.parent(node)
  return parent
    ? gatherNested(node, parent, importsOf(spec), slice)
    : gatherRoot(node, importsOf(spec), 'rootScope', slice)
}

/**
 * Pins the exporters of a root's imports, under the lock that an exporter takes before it searches for importers. Then
 * the rule checks everything again.
 */
export function pinImports(node: Node, gathered: Gathered, slice: Slice): Gathered | undefined {
  if (slice.parent(node)) return gathered
  const imports = importsOf(slice.spec(node))
  return imports.length === 0 ? gathered : gatherRoot(node, imports, 'pinScope', slice)
}

export interface ScopeArgs {
  readonly projectId: string
  readonly names: readonly string[]
}

function gatherRoot(
  node: Node,
  imports: readonly ImportSpec[],
  question: 'rootScope' | 'pinScope',
  slice: Slice,
): Gathered | undefined {
  if (imports.length === 0) return READY({})
  const names = [...new Set(scopeImports(imports).map((i) => i.from))].sort()
  const scope = names.length === 0 ? [] : slice.ask(question, { projectId: node.row.projectId, names })
  if (!scope) return undefined
  const entries = new Map(scope.map((entry) => [entry.name, entry]))
  const values = valuesOf(imports, (name) => entries.get(name))
  const going = scope.find((entry) => entry.exporter?.going)
  const unready = scope.find((entry) => entry.exporter && !entry.exporter.ready)
  if (values.missing) return WAITING(null, `The import ${values.missing} is not there yet.`)
  if (going?.exporter) return WAITING(values.found, `The installation ${going.exporter.name} is being deleted.`)
  if (unready?.exporter && !isForced(slice)) {
    return WAITING(values.found, `The installation ${unready.exporter.name} is not ready.`)
  }
  return READY(values.found)
}

function gatherNested(node: Node, parent: Node, imports: readonly ImportSpec[], slice: Slice): Gathered | undefined {
  const siblings = slice.neighbours(node, 'dependencies')
  if (!siblings) return undefined
  const parentImports = installation(parent).imports ?? {}
  const exported = new Map(siblings.flatMap((s) => Object.entries(installation(s).exports ?? {})))
  const values = valuesOf(imports, (name) =>
    exported.has(name)
      ? { exists: true, value: exported.get(name) }
      : { exists: Object.hasOwn(parentImports, name), value: parentImports[name] },
  )
  const running = siblings.filter((s) => !isFinished(s.row) || s.row.jobId !== node.row.jobId)
  const failed = siblings.find((s) => !running.includes(s) && s.row.phase !== 'SUCCEEDED')
  const forced = isForced(slice)
  if (failed && !forced) return PREDECESSOR_FAILED(failed)
  if (running.length > 0) return WAITING(null, `The installation ${running[0]?.row.name} is not ready.`)
  // A failed exporter is ignored if its last good exports suffice.
  if (values.missing) return failed ? PREDECESSOR_FAILED(failed) : IMPORT_MISSING(values.missing)
  return READY(values.found)
}

function valuesOf(
  imports: readonly ImportSpec[],
  find: (name: string) => { exists: boolean; value: unknown } | undefined,
) {
  const found: Record<string, unknown> = {}
  let missing: string | null = null
  for (const { name, from, required, schema, value } of imports) {
    const entry = value === undefined ? find(from) : { exists: true, value }
    const fallback = defaultOf(schema)
    if (entry?.exists) found[name] = entry.value
    else if (fallback !== undefined) found[name] = fallback
    else if (required) missing ??= name
  }
  return { found: found as Readonly<Record<string, unknown>>, missing }
}

const NEVER = (code: Gathered['code'], message: string): Gathered => ({ state: 'never', values: null, code, message })
const PREDECESSOR_FAILED = ({ row }: Node): Gathered =>
  NEVER('PREDECESSOR_FAILED', `The installation ${row.name} did not succeed.`)
const IMPORT_MISSING = (name: string): Gathered => NEVER('IMPORT_MISSING', `Nothing gives the import ${name} a value.`)
const READY = (values: Readonly<Record<string, unknown>>): Gathered => ({
  state: 'ready',
  values,
  code: 'IMPORT_MISSING',
  message: '',
})
const WAITING = (values: Readonly<Record<string, unknown>> | null, message: string): Gathered => ({
  state: 'waiting',
  values,
  code: 'IMPORT_MISSING',
  message,
})
