import { isScalar, parseDocument, stringify, visit } from 'yaml'
import { withoutStop } from '../../../../cli/import/import-command.ts'
import { escaped, ImportProblem, isMap } from '../../../../cli/import/loose-values.ts'
import { parseText } from '../../../../core/expression.ts'
import { resolveAliases } from '../../../../manifest/resolve-aliases.ts'

/**
 * Go templates that write YAML, as templates of ours: what they insert becomes an expression, and what is known already its
 * value. Templates that decide or repeat (`if`, `range`, `with`) are refused: their meaning is more than their result.
 */

/** A value that is known only when the installation runs. */
export class Expression {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
  member(name: string): Expression {
    return new Expression(memberOf(this.source, name))
  }
}

/** The member of an expression by its name, which may be no identifier. */
export const memberOf = (source: string, name: string): string =>
  /^[A-Za-z_]\w*$/.test(name) ? `${source}.${name}` : `${source}[${JSON.stringify(name)}]`

/** The value with each expression in it as `${…}`; other texts stand for themselves. */
export function templateOf(value: unknown): unknown {
  if (value instanceof Expression) return `\${${value.source}}`
  if (Array.isArray(value)) return value.map(templateOf)
  if (!isMap(value)) return escaped(value)
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, templateOf(one)]))
}

/** The YAML that a template writes, read, with expressions as texts. @throws ImportProblem */
export function readTemplate(template: string, data: unknown, left: string[]): unknown {
  try {
    return read(template, data, left)
  } catch (error) {
    if (error instanceof ImportProblem) throw error
    // A library refuses an alias without its anchor, and deep nesting fills the stack.
    throw new ImportProblem(`it cannot be read: ${withoutStop(error instanceof Error ? error.message : String(error))}`)
  }
}

function read(template: string, data: unknown, left: string[]): unknown {
  const run = new Run(data)
  const text = run.render(template)
  let document = parseDocument(text, OPTIONS)
  // A map inserted beside other keys.
  if (document.errors.length > 0) document = parseDocument(text.replace(LONE, `$1$2: ${MERGED}`), OPTIONS)
  const [problem] = document.errors.length > 0 ? document.errors : resolveAliases(document)
  if (problem) throw new ImportProblem(run.shown(`its YAML cannot be read: ${problem.message.split('\n')[0]}`))
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || !isScalar(value) || value.value !== MERGED) return undefined
      left.push(`${run.shown(String(key.value))} is merged into a map: write its keys`)
      return visit.REMOVE
    },
    Scalar(_, node) {
      if (typeof node.value !== 'string') return
      node.value = run.filled(node.value, node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE')
    },
  })
  return run.withoutDynamicKeys(document.toJS())
}

const OPTIONS = { prettyErrors: false, logLevel: 'error' } as const
const ACTION = /\{\{(-?)([\s\S]*?)(-?)\}\}/g
const KEYWORD = /^(if|else|end|range|with|define|template|block|include|break|continue)\b/

class Run {
  readonly #expressions: Expression[] = []
  readonly #variables = new Map<string, unknown>()
  readonly #data: unknown
  constructor(data: unknown) {
    this.#data = data
  }

  render(template: string): string {
    let text = ''
    let at = 0
    let trims = false
    // Behind the last end there is no action: each beginning finds an end, so that none of them looks through the whole rest.
    const actions = template.slice(0, template.lastIndexOf('}}') + 2)
    for (const { 0: whole, 1: before, 2: code = '', 3: after, index } of actions.matchAll(ACTION)) {
      const literal = template.slice(at, index)
      text += trims ? literal.trimStart() : literal
      if (before) text = text.trimEnd()
      text += this.#actionOf(code.trim())
      at = index + whole.length
      trims = after === '-'
    }
    const rest = template.slice(at)
    if (rest.includes('{{')) throw new ImportProblem('a {{ has no }}')
    return text + (trims ? rest.trimStart() : rest)
  }

  #actionOf(code: string): string {
    if (code.startsWith('/*')) return ''
    if (KEYWORD.test(code)) throw new ImportProblem(`{{ ${code} }} decides or repeats`)
    const [, variable, assigned] = /^(\$\w+)\s*:?=\s*([\s\S]+)$/.exec(code) ?? []
    if (variable !== undefined && assigned !== undefined) {
      this.#variables.set(variable, this.#valueOf(assigned))
      return ''
    }
    return this.#textOf(this.#valueOf(code))
  }

  #textOf(value: unknown): string {
    if (value instanceof Expression) return this.#mark(value)
    if (value instanceof Indented) {
      const { value: inner, indent } = value
      const text = inner instanceof Expression ? this.#mark(inner) : yamlOf(inner)
      return text.replace(/^/gm, ' '.repeat(indent)).replace(/^/, value.onNewLine ? '\n' : '')
    }
    if (value instanceof Json) return value.text
    if (value === undefined || value === null) throw new ImportProblem('it inserts a value that is not there')
    return typeof value === 'object' ? yamlOf(value) : String(value)
  }

  #mark(expression: Expression): string {
    return `${MARK}${this.#expressions.push(expression) - 1}x`
  }
  readonly #sourceOf = (index: string): string => this.#expressions[Number(index)]?.source ?? ''

  /** A text of the YAML with its expressions. Quotes make a text of any value. */
  filled(text: string, isQuoted: boolean): string {
    const whole = WHOLE.exec(text)?.[1]
    if (whole !== undefined) return isQuoted ? `\${string(${this.#sourceOf(whole)})}` : `\${${this.#sourceOf(whole)}}`
    return text.replaceAll('${', () => '$${').replace(MARKS, (_, index: string) => `\${${this.#sourceOf(index)}}`)
  }
  shown = (text: string): string => text.replace(MARKS, (_, index: string) => `{{ ${this.#sourceOf(index)} }}`)

  /** Keys cannot have expressions: a map with such keys is one expression. */
  withoutDynamicKeys(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.withoutDynamicKeys(one))
    if (!isMap(value)) return value
    const entries = Object.entries(value)
    if (!entries.some(([key]) => isDynamic(key)))
      return Object.fromEntries(entries.map(([key, one]) => [key, this.withoutDynamicKeys(one)]))
    return `\${${celOf(value)}}`
  }

  /** The value of a pipeline: `a b | c d` is `c d (a b)`. */
  #valueOf(code: string): unknown {
    let value: unknown
    for (const [i, command] of splitAt(code, '|').entries()) {
      const [first = '', ...words] = wordsOf(command)
      const args = words.map((word) => this.#operand(word))
      if (i > 0) args.push(value)
      const isCall = i > 0 || (args.length > 0 && /^[A-Za-z]\w*$/.test(first))
      value = isCall ? call(first, args, command) : this.#operand(first)
    }
    return value
  }

  #operand(word: string): unknown {
    if (/^"/.test(word)) return literalOf(word)
    if (/^`/.test(word)) return word.slice(1, -1)
    if (/^-?\d+(\.\d+)?$/.test(word)) return Number(word)
    if (word === 'true' || word === 'false') return word === 'true'
    const [, group, chain] = /^\(([\s\S]*)\)((?:\.\w+)*)$/.exec(word) ?? []
    if (group !== undefined) return follow(this.#valueOf(group), chain ?? '')
    const [, root = '', path = ''] = /^(\$\w*|)((?:\.\w+)*)\.?$/.exec(word) ?? []
    if (root === '' && !word.startsWith('.')) throw new ImportProblem(`{{ ${word} }} is not known`)
    const isData = root === '' || root === '$'
    if (!isData && !this.#variables.has(root)) throw new ImportProblem(`the variable ${root} is not known`)
    return follow(isData ? this.#data : this.#variables.get(root), path)
  }
}

const MARK = 'Xexpression'
const MERGED = 'Xmerged'
const MARKS = new RegExp(`${MARK}(\\d+)x`, 'g')
const WHOLE = new RegExp(`^${MARK}(\\d+)x$`)
/** A line of its own that is not the value of the key before it. */
const LONE = new RegExp(`(?<!:)(\\n[^\\S\\n]*)(${MARK}\\d+x)(?=[^\\S\\n]*(?:\\n|$))`, 'g')

/** A text of Go whose escapes are those of JSON, too. @throws ImportProblem */
function literalOf(word: string): unknown {
  try {
    return JSON.parse(word)
  } catch {
    throw new ImportProblem(`the text ${word} cannot be read`)
  }
}

/** A value as JSON, which is YAML. */
class Json {
  readonly text: string
  constructor(value: unknown) {
    this.text = JSON.stringify(value)
  }
  toString(): string {
    return this.text
  }
}

/** A value as YAML, with its indentation. */
class Indented {
  readonly value: unknown
  readonly indent: number
  readonly onNewLine: boolean
  constructor(value: unknown, indent: number, onNewLine: boolean) {
    this.value = value
    this.indent = indent
    this.onNewLine = onNewLine
  }
}

const follow = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .filter((name) => name !== '')
    .reduce((inner, name) => fieldOf(inner, name), value)

function fieldOf(value: unknown, name: unknown): unknown {
  if (value instanceof Expression) return value.member(String(name))
  if (isMap(value) && Object.hasOwn(value, String(name))) return value[String(name)]
  if (Array.isArray(value) && typeof name === 'number') return value[name]
  throw new ImportProblem(`${String(name)} is not known`)
}

const IMAGE = /^(.+?)(?::([^/:@]+)|@(.+))?$/

/** Functions of Go, Sprig and Landscaper that have a meaning without running. @throws ImportProblem */
function call(name: string, args: readonly unknown[], shown: string): unknown {
  const [first, second] = args
  const last = args.at(-1)
  const isKnown = !args.some((one) => one instanceof Expression)
  if (name === 'index') return args.slice(1).reduce(fieldOf, first)
  if (name === 'toYaml' || name === 'toString' || name === 'required') return last
  if (name === 'toJson') return last instanceof Expression ? last : new Json(last)
  if (name === 'quote')
    return last instanceof Expression ? new Expression(`string(${last.source})`) : JSON.stringify(String(last))
  if ((name === 'indent' || name === 'nindent') && isIndent(first)) return new Indented(last, first, name === 'nindent')
  if (name === 'getResource' && isKnown && args.length === 3)
    return resourceOf(...(args as [unknown, unknown, unknown]))
  if (name === 'getResourceKey' && isKnown) return first
  if (name === 'ociRefRepo' && isKnown) return IMAGE.exec(String(first))?.[1]
  if (name === 'ociRefVersion' && isKnown) return IMAGE.exec(String(first))?.slice(2).find(Boolean)
  if (name === 'default' && isKnown) return second === undefined || second === '' ? first : second
  throw new ImportProblem(`{{ ${shown} }} has no equivalent`)
}

const isIndent = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_INDENT
/** More than any template has. */
const MAX_INDENT = 200

/** `getResource .cd "name" "chart"`. */
function resourceOf(descriptor: unknown, key: unknown, wanted: unknown): unknown {
  const resources = fieldOf(fieldOf(descriptor, 'component'), 'resources')
  const found = Array.isArray(resources)
    ? resources.find((one) => isMap(one) && one[String(key)] === wanted)
    : undefined
  if (found !== undefined) return found
  throw new ImportProblem(`the component has no resource ${String(wanted)}`)
}

/** Splits at a character outside of quotes and parentheses. */
function splitAt(code: string, separator: string): readonly string[] {
  const parts = ['']
  let depth = 0
  for (const [piece] of code.matchAll(/"(?:\\[\s\S]?|[^"\\])*(?:"|$)|`[^`]*`|[\s\S]/g)) {
    if (piece === '(') depth += 1
    if (piece === ')') depth -= 1
    if (piece === separator && depth === 0) parts.push('')
    else parts[parts.length - 1] += piece
  }
  return parts.map((part) => part.trim())
}
const wordsOf = (command: string): readonly string[] =>
  splitAt(command.replace(/\s+/g, ' '), ' ').filter((word) => word !== '')

/** Without blocks, whose blanks an indentation would change. */
const yamlOf = (value: unknown): string => stringify(value, { blockQuote: false, lineWidth: 0 }).trimEnd()

/** A known key may hold `${`, which is escaped. */
function isDynamic(key: string): boolean {
  const parsed = parseText(key)
  return !parsed.ok || parsed.parts.some((part) => typeof part === 'object')
}

/** A template of ours as one expression. */
export function celOf(value: unknown): string {
  if (typeof value === 'string') {
    const parsed = parseText(value)
    const parts = parsed.ok ? parsed.parts : [value]
    const [first] = parts
    if (parts.length === 1 && typeof first === 'object') return first.source
    return (
      parts.map((part) => (typeof part === 'string' ? JSON.stringify(part) : `string(${part.source})`)).join(' + ') ||
      '""'
    )
  }
  if (Array.isArray(value)) return `[${value.map(celOf).join(', ')}]`
  if (!isMap(value)) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, one]) => `${celOf(key)}: ${celOf(one)}`)
  return `{${entries.join(', ')}}`
}
