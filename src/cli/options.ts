import { type Command, InvalidArgumentError, Option } from 'commander'
import { PAST_TIME_EXAMPLES, parsePastTime } from '../client-model/index.ts'
import { parseDuration } from '../core/parse-duration.ts'
import type { Actor, ObjectKind, Phase } from '../core/vocabulary.ts'

/**
 * A kind or a phase in any of the usual spellings: `deploy-item`, `deploy_item`, `DEPLOY_ITEM`. The server may know more
 * of them than this version: `checkWords` asks it.
 */
function parseWord<EnumValue extends string>(text: string): EnumValue {
  const constant = text.trim().toUpperCase().replaceAll('-', '_')
  if (/^[A-Z][A-Z0-9_]*$/.test(constant)) return constant as EnumValue
  throw new InvalidArgumentError('Expected a word such as deploy-item.')
}

/** The same for an option that may be repeated, or be given once with commas. */
const severalOf =
  <EnumValue extends string>(parse: (text: string) => EnumValue) =>
  (text: string, before: readonly EnumValue[] = []): EnumValue[] => [...before, ...text.split(',').map(parse)]

export const parseKind = parseWord<ObjectKind>
export const parseKinds = severalOf(parseWord<ObjectKind>)
export const parsePhases = severalOf(parseWord<Phase>)
export const parseActors = severalOf(parseWord<Actor>)

const wholeTo =
  (most: number) =>
  (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value <= most) return value
    throw new InvalidArgumentError(`Expected a whole number from 0 to ${most}.`)
  }

/** A number of things, or of a generation: the API has these in 32 bits. */
export const parseCount = wholeTo(2 ** 31 - 1)
export const parseSequence = wholeTo(Number.MAX_SAFE_INTEGER)

/** A moment, or a duration up to now, as ISO 8601. */
export function parseTime(text: string): string {
  const time = parsePastTime(text, new Date())
  if (!time) throw new InvalidArgumentError(`Expected a time, such as ${PAST_TIME_EXAMPLES}.`)
  return time.toISOString()
}

/** A sequence of the log, or a time as `parseTime` takes it. */
export const parseMoment = (text: string): number | string =>
  /^\d+$/.test(text) ? parseSequence(text) : parseTime(text)

/** A duration, in milliseconds. */
export function parseLength(text: string): number {
  const ms = parseDuration(text)
  if (ms === null) throw new InvalidArgumentError('Expected a duration such as 12h or 90d.')
  return ms
}

/** A cursor of the log, or a sequence. */
export function parsePlace(text: string): string | number {
  if (/^\d+$/.test(text)) return parseSequence(text)
  if (/^[\w-]+$/.test(text)) return text
  throw new InvalidArgumentError('Expected a sequence, or a cursor as phase changes have one.')
}

/** Help of `-f` for commands that take several. */
export const FILES_HELP = "files, folders, patterns such as 'env/*.yaml', or - for standard input; read in order"

/** The files of a repeatable option, in the given order. */
export function parseFiles(file: string, before: readonly string[] = []): string[] {
  if (file === '-' && before.includes('-')) throw new InvalidArgumentError('Standard input can be read only once.')
  return [...before, file]
}

/** For an option with one file: refuses a second one, which would replace the first. */
export function parseFile(file: string, before?: string): string {
  if (before !== undefined) throw new InvalidArgumentError('This command takes only one file.')
  return file
}

export interface LabelArgument {
  readonly key: string
  readonly value: string
}

/** `key=value`, repeatable. */
export function parseLabel(text: string, before: readonly LabelArgument[] = []): LabelArgument[] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Expected key=value.')
  return [...before, { key: text.slice(0, at), value: text.slice(at + 1) }]
}

/** `key=value[,key=value]`, repeatable. A comma of a value is written `\,`. */
export const parseSelector = (text: string, before?: readonly LabelArgument[]): LabelArgument[] =>
  text
    .split(/(?<!\\),/)
    .reduce<LabelArgument[]>((labels, one) => parseLabel(one.replaceAll('\\,', ','), labels), [...(before ?? [])])

/** An option as data, for several commands. */
export const option = <T>(flags: string, description: string, parse?: (text: string, before: T) => T): Option => {
  const made = new Option(flags, description)
  return parse ? made.argParser(parse) : made
}

/** `-f, --follow`. `-F`, as several commands had it, means the same. */
export const withFollow = (command: Command, description: string): Command =>
  command
    .option('-f, --follow', description)
    .addOption(new Option('-F', 'the same as -f').implies({ follow: true }).hideHelp())

/** `-y, --yes` of a command that destroys. */
export const withYes = (command: Command): Command => command.option('-y, --yes', 'do not ask first')

export const OF_PROJECT = option('--project <name>', 'only of this project')
export const ALL_PROJECTS = option(
  '-A, --all-projects',
  'of all projects that you may read: the same as without --project',
).conflicts('project')
export const LABELS = option('-l, --label <key=value>', 'only with these labels, e.g. app=shop,team=web', parseSelector)

/** A name as the inputs of the API have it, of a repeatable option. */
export function parseFlag(text: string, before: readonly string[] = []): string[] {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(text)) throw new InvalidArgumentError('Expected the name of a flag, such as force.')
  return [...before, text]
}
