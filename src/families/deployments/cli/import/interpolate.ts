import { ImportProblem } from '../../../../cli/import/loose-values.ts'

/** The value of a variable; undefined: it is not set. */
export type Lookup = (name: string) => string | undefined

const BRACED = /^([A-Za-z_]\w*)(?:(:?)([-?+])([\s\S]*))?$/
const PLAIN = /[A-Za-z_]\w*/y

/**
 * Replaces `$NAME` and `${NAME…}` as Compose does; `$$` stands for `$`.
 * @param onUnset gets the name of a variable that is not set, where the text has nothing in its place
 * @throws ImportProblem
 */
export function interpolate(text: string, lookup: Lookup, onUnset: (name: string) => void = () => {}): string {
  let result = ''
  let at = 0
  for (;;) {
    const open = text.indexOf('$', at)
    if (open < 0) return result + text.slice(at)
    result += text.slice(at, open)
    const next = text[open + 1]
    PLAIN.lastIndex = open + 1
    const name = PLAIN.exec(text)?.[0]
    if (next === '{') {
      const close = endOf(text, open)
      result += resolved(text.slice(open + 2, close), lookup, onUnset)
      at = close + 1
    } else if (name !== undefined) {
      result += resolved(name, lookup, onUnset)
      at = open + 1 + name.length
    } else {
      result += '$'
      at = open + (next === '$' ? 2 : 1)
    }
  }
}

/** The place of the brace that closes the one behind the `$`; a default may hold variables, too. */
function endOf(text: string, open: number): number {
  let depth = 0
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === '{' && text[at - 1] === '$') depth += 1
    if (text[at] === '}') depth -= 1
    if (depth === 0) return at
  }
  throw new ImportProblem(`${text.slice(open, open + 40)} has no closing brace`)
}

function resolved(expression: string, lookup: Lookup, onUnset: (name: string) => void): string {
  const [, name, colon, operator, rest = ''] = BRACED.exec(expression) ?? []
  if (name === undefined) throw new ImportProblem(`\${${expression}} is no variable`)
  const value = lookup(name)
  const isThere = value !== undefined && (colon !== ':' || value !== '')
  if (value === undefined && operator === undefined) onUnset(name)
  if (operator === '+') return isThere ? interpolate(rest, lookup, onUnset) : ''
  if (isThere || operator === undefined) return value ?? ''
  if (operator === '-') return interpolate(rest, lookup, onUnset)
  throw new ImportProblem(`the variable ${name} is required: ${interpolate(rest, lookup)}`)
}

/** Names and values of a file like `.env`, in which a line may use the variables of lines before it. @throws ImportProblem */
export function readEnvFile(text: string, lookup: Lookup): ReadonlyMap<string, string> {
  const variables = new Map<string, string>()
  const known: Lookup = (name) => lookup(name) ?? variables.get(name)
  for (const line of text.split(/\r?\n/)) {
    const [, name, given] = /^\s*(?:export\s+)?([^\s=#]+)\s*(?:=\s*(.*))?$/.exec(line) ?? []
    if (name === undefined) continue
    const value = given === undefined ? lookup(name) : unquote(given, known)
    if (value !== undefined) variables.set(name, value)
  }
  return variables
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
function unquote(text: string, lookup: Lookup): string {
  const single = /^'([^']*)'/.exec(text)
  if (single) return single[1] ?? ''
  const double = /^"((?:\\.|[^"\\])*)"/.exec(text)
  if (!double) return interpolate(text.replace(/(?:^|\s+)#.*$/, '').trimEnd(), lookup)
  return interpolate(double[1] ?? '', lookup).replace(
    /\\(.)/g,
    (_, character: string) => ESCAPES[character] ?? character,
  )
}
