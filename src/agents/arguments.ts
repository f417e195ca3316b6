import { parseArgs } from 'node:util'

/** The command line of an agent process, checked. */
export interface AgentArguments {
  readonly types: readonly string[]
  readonly url: string
  readonly instance: string | undefined
  readonly targets: readonly string[] | undefined
  readonly concurrency: number | undefined
  readonly state: string | undefined
  readonly graceMs: number | undefined
  readonly leaseMs: number | undefined
  readonly tokenFile: string | undefined
  /** What only some programs have, by its name. */
  readonly options: Readonly<Record<string, string | undefined>>
}

/** Wrong arguments. The message says what to write instead. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The programs by type, and the names of the options that only some of them have. */
interface Known {
  readonly types: readonly string[]
  readonly options: readonly string[]
}

/** @throws UsageError, or a TypeError for an unknown option */
export function readArguments(known: Known): AgentArguments {
  const { values } = parseArgs({
    options: {
      ...Object.fromEntries(known.options.map((name) => [name, { type: 'string' } as const])),
      types: { type: 'string', default: '' },
      url: { type: 'string', default: 'http://127.0.0.1:4000/graphql' },
      targets: { type: 'string' },
      concurrency: { type: 'string' },
      instance: { type: 'string' },
      state: { type: 'string' },
      'grace-ms': { type: 'string' },
      'lease-ms': { type: 'string' },
      'token-file': { type: 'string' },
    },
  })
  const { types, url, targets, concurrency, instance, state, 'token-file': tokenFile } = values
  const wanted = types.split(',').filter((type) => type !== '')
  const unknown = wanted.filter((type) => !known.types.includes(type))
  refuse(wanted.length === 0, 'This agent needs --types: what it works on, such as mock,gadget.')
  refuse(unknown.length > 0, `There is no built-in agent for ${unknown.join(', ')}.`)
  return {
    ...{ types: wanted, url, instance, state, tokenFile },
    targets: targets?.split(','),
    concurrency: wholeNumber('--concurrency', concurrency),
    graceMs: wholeNumber('--grace-ms', values['grace-ms']),
    leaseMs: wholeNumber('--lease-ms', values['lease-ms']),
    options: Object.fromEntries(known.options.map((name) => [name, optionOf(values, name)])),
  }
}

function optionOf(values: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** The state folder of a program that has one. @throws UsageError */
export function requireState({ state }: Pick<AgentArguments, 'state'>): string {
  if (state) return state
  throw new UsageError('This agent needs --state: the folder that it keeps its files in.')
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
