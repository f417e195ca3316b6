import { InvalidArgumentError } from 'commander'
import { OBJECT_KINDS, PHASES } from '../core/vocabulary.ts'

/** One of the words in any of the usual spellings: `deploy-item`, `deploy_item`, `DEPLOY_ITEM`. */
const parserOf =
  (words: readonly string[]) =>
  (text: string): string => {
    const constant = text.trim().toUpperCase().replaceAll('-', '_')
    if (words.includes(constant)) return constant
    throw new InvalidArgumentError(`Expected one of ${words.map(spell).join(', ')}.`)
  }
const spell = (word: string): string => word.toLowerCase().replaceAll('_', '-')

/** The same for an option that can be given several times, or once with commas. */
const severalOf =
  (parse: (text: string) => string) =>
  (text: string, before: readonly string[] = []): string[] => [...before, ...text.split(',').map(parse)]

export const parseKind = parserOf(OBJECT_KINDS)
export const parseKinds = severalOf(parseKind)
export const parsePhases = severalOf(parserOf(PHASES))

/** A whole number that is not negative: a sequence, a limit. */
export function parseCount(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError('Expected a whole number, 0 or more.')
  }
  return value
}

/** A cursor of the log, or a sequence. */
export function parsePlace(text: string): string | number {
  if (/^\d+$/.test(text)) return parseCount(text)
  if (/^[\w-]+$/.test(text)) return text
  throw new InvalidArgumentError('Expected a sequence, or a cursor as phase changes have one.')
}

/** Files in the order in which they are given, of an option that can be given several times. */
export function parseFiles(file: string, before: readonly string[] = []): string[] {
  if (file === '-' && before.includes('-')) throw new InvalidArgumentError('Standard input can be read only once.')
  return [...before, file]
}

/** Of an option that takes one file: a second one is refused, instead of replacing the first. */
export function parseFile(file: string, before?: string): string {
  if (before !== undefined) throw new InvalidArgumentError('This command takes only one file.')
  return file
}

export interface LabelArgument {
  readonly key: string
  readonly value: string
}

/** `key=value`, several times. */
export function parseLabel(text: string, before: readonly LabelArgument[] = []): LabelArgument[] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Expected key=value.')
  return [...before, { key: text.slice(0, at), value: text.slice(at + 1) }]
}
