import type { CelError, CelInput } from '@bufbuild/cel'
import { Refused } from './environment.ts'
import type { Inspection } from './inspect.ts'
import { missingReference } from './missing-reference.ts'

interface Context extends Inspection {
  readonly scope: Readonly<Record<string, CelInput>>
}

/**
 * An error's message without values: CEL's own messages quote keys, texts and patterns, which may be secrets.
 * If the expression computes a key (`dynamic`), even the name of a missing field may be a value.
 */
export function explain(error: CelError, context: Context): string {
  if (error.cause instanceof Refused) return error.cause.message
  const { message } = error
  for (const [pattern, words] of MEANINGS) {
    const match = pattern.exec(message)
    if (match) return words(match, context)
  }
  return 'it cannot be evaluated'
}

const OPERATORS: Readonly<Record<string, string>> = { '@in': 'in', '!_': '!', '-_': '-', '_?_:_': '?:' }

const MEANINGS: readonly (readonly [RegExp, (match: RegExpExecArray, context: Context) => string])[] = [
  [
    /^found no matching overload for '?(.+?)'? applied to '(.*)'$/,
    ([, name = '', types = '']) => {
      const shown = OPERATORS[name] ?? name.replaceAll('_', '')
      return `${shown} cannot be applied to ${types.replaceAll(/\bnull_type\b/g, 'null')}`
    },
  ],
  [
    /^field not found: (.*)$/s,
    ([, name = ''], { dynamic, references, scope }) =>
      dynamic ? 'there is no such field' : missingReference(name, references, scope),
  ],
  [/^unresolved attribute/, () => 'there is no such field'],
  [/^unbound function: (\w+)/, ([, name]) => `there is no function ${name}`],
  [/(divide|modulus) by zero/, () => 'a number is divided by zero'],
  [/overflow|out of range/, () => 'a number is out of range'],
  [/out of bounds/, () => 'an index is out of bounds'],
  [/^type mismatch: iterable/, () => 'a macro needs a list or a map'],
  [/^type mismatch/, () => 'a condition needs true or false'],
  [/^map key conflict/, () => 'a map has the same key twice'],
  [/^unsupported key type/, () => 'a key of a map must be a string, a whole number, true or false'],
  [/^error parsing regexp/, () => 'a regular expression is not valid'],
  [/[Cc]annot convert|Unable to convert|Failed to (parse|decode)/, () => 'a value cannot be converted'],
  [/^invalid argument to function (\w+)/, ([, name]) => `an argument of ${name} is not valid`],
  [/Invalid string length/, () => 'a text grew too long'],
  [/Maximum call stack/, () => 'it is nested too deep'],
]
