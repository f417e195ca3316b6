import { parseArgs } from 'node:util'
import type { TargetSelector } from '../client/index.ts'
import { AGENT_OPTIONS } from '../core/agent-options.ts'

/** The command line of an agent process, checked. */
export interface AgentArguments {
  readonly types: readonly string[]
  readonly url: string
  readonly instance: string | undefined
  readonly targets: readonly string[] | undefined
  /** Targets of projects by type and labels. */
  readonly targetSelector: TargetSelector | undefined
  /** Labels and capacity of a runtime's place. */
  readonly labels: readonly { readonly key: string; readonly value: string }[]
  readonly capacity: number | undefined
  readonly concurrency: number | undefined
  readonly state: string | undefined
  readonly graceMs: number | undefined
  readonly leaseMs: number | undefined
  readonly tokenFile: string | undefined
  /** Options of individual programs, by name. */
  readonly options: Readonly<Record<string, string | undefined>>
}

/** Wrong arguments. The message says what to write instead. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const DEFAULT_URL = 'http://127.0.0.1:4000/graphql'

/** Given options, by their names without dashes. */
export type GivenOptions = Readonly<Record<string, string | undefined>>

/** The individual options of each program, by the type of work. */
type Programs = Readonly<Record<string, { readonly options?: Readonly<Record<string, string>> }>>

/** The names of the options that only some programs have. */
const ownOptions = (programs: Programs): readonly string[] => [
  ...new Set(Object.values(programs).flatMap(({ options = {} }) => Object.keys(options))),
]

/** The options of a command line. @throws UsageError */
export function parseOptions(argv: readonly string[], programs: Programs): GivenOptions {
  const names = [...Object.keys(AGENT_OPTIONS), ...ownOptions(programs)]
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: 'string' } as const]))
    return { ...parseArgs({ args: [...argv], options }).values }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** @throws UsageError */
export function readArguments(given: GivenOptions, programs: Programs): AgentArguments {
  const { types = '', url = DEFAULT_URL, targets, concurrency, instance, state, 'token-file': tokenFile } = given
  const wanted = types.split(',').filter((type) => type !== '')
  const known = Object.keys(programs)
  const unknown = wanted.filter((type) => !known.includes(type))
  refuse(wanted.length === 0, `This agent needs --types: what it works on, of ${known.join(', ')}.`)
  refuse(unknown.length > 0, `There is no built-in agent for ${unknown.join(', ')}: there are ${known.join(', ')}.`)
  return {
    ...{ types: wanted, url, instance, state, tokenFile },
    targets: targets?.split(','),
    targetSelector: targetSelectorOf(given),
    labels: labelsOf('--label', given.label ?? ''),
    capacity: wholeNumber('--capacity', given.capacity),
    concurrency: wholeNumber('--concurrency', concurrency),
    graceMs: wholeNumber('--grace-ms', given['grace-ms']),
    leaseMs: wholeNumber('--lease-ms', given['lease-ms']),
    options: Object.fromEntries(ownOptions(programs).map((name) => [name, given[name]])),
  }
}

/** The state folder of a program that has one. @throws UsageError */
export function requireState({ state }: Pick<AgentArguments, 'state'>): string {
  if (state) return state
  throw new UsageError('This agent needs --state: the folder that it keeps its files in.')
}

function targetSelectorOf({ 'target-type': type, 'target-labels': labels }: GivenOptions): TargetSelector | undefined {
  if (type === undefined && labels === undefined) return undefined
  const read = labelsOf('--target-labels', labels ?? '')
  refuse(
    !type && read.length === 0,
    '--target-type and --target-labels say which targets: one of them must not be empty.',
  )
  return { ...(type && { type }), ...(read.length > 0 && { labels: read }) }
}

function labelsOf(option: string, text: string): AgentArguments['labels'] {
  return text
    .split(',')
    .filter((label) => label !== '')
    .map((label) => {
      const at = label.indexOf('=')
      refuse(at < 1, `${option} takes key=value, with commas between several: ${label} is none.`)
      return { key: label.slice(0, at), value: label.slice(at + 1) }
    })
}

function refuse(isWrong: boolean, message: string): void {
  if (isWrong) throw new UsageError(message)
}

function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  refuse(!Number.isInteger(number) || number < 1, `${option} must be a positive whole number.`)
  return number
}
