import { parseArgs } from 'node:util'

/** The workloads next to peers, in the order of docs/benchmarks.md. */
export const NAMES: readonly string[] = [
  'tree',
  'profile',
  'small-trees',
  'idle',
  'latency',
  'events',
  'deploy',
  'locks',
  'fan-out',
  'storm',
  'read',
  'scale',
  'scale:prefilled',
  'engines',
  'schedules',
  'schedules:many',
  'hooks',
  'notifications',
  'log-search',
  'output-search',
  'mutation',
  'abuse',
  'others',
]
/** Workloads that can also compare this checkout with another commit. */
const PAIRED: readonly string[] = ['tree', 'profile', 'small-trees', 'idle', 'latency', 'mutation', 'fan-out', 'abuse']
const ROUNDS = 3
const PAIRED_ROUNDS = 10
const MAX_ROUNDS = 1_000
const MAX_SIZE = 1_000_000

export interface Arguments {
  /** In the order in which they run. */
  readonly names: readonly string[]
  /** The commit that this checkout is compared with; null: peers. */
  readonly against: string | null
  readonly rounds: number
  /** Part of the requests, from 0 to 1, of which this checkout sends traces while it is compared; null: it does not trace. */
  readonly traced: number | null
  /** How many schedules there are; null: as many as the page has. */
  readonly size: number | null
  /** Runs only the attacks of `abuse` and the parts of `events` whose name contains this; null: all. */
  readonly only: string | null
}

/** Throws an error that says what to write instead. */
export function readArguments(args: readonly string[]): Arguments {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      against: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string' },
      traced: { type: 'string' },
      size: { type: 'string' },
    },
  })
  const { against = null, only = null } = values
  return {
    names: choose(positionals, against === null ? NAMES : PAIRED),
    against,
    only,
    size: values.size === undefined ? null : readNumber('size', values.size, MAX_SIZE),
    traced: values.traced === undefined ? null : readTraced(values.traced, against),
    rounds:
      values.rounds === undefined
        ? against === null
          ? ROUNDS
          : PAIRED_ROUNDS
        : readNumber('rounds', values.rounds, MAX_ROUNDS),
  }
}

function readTraced(text: string, against: string | null): number {
  const ratio = Number(text)
  if (against === null) throw new Error('--traced needs --against, e.g. --against HEAD')
  if (text.trim() !== '' && ratio >= 0 && ratio <= 1) return ratio
  throw new Error(`--traced ${text} is not a number from 0 to 1`)
}

function choose(asked: readonly string[], known: readonly string[]): readonly string[] {
  const unknown = asked.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`${unknown.join(', ')} cannot run here, but these can: ${known.join(', ')}`)
  return asked.length > 0 ? known.filter((name) => asked.includes(name)) : known
}

function readNumber(name: string, text: string, max: number): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= max) return number
  throw new Error(`--${name} ${text} is not a whole number from 1 to ${max}`)
}
