import { parseArgs } from 'node:util'

/** The workloads next to peers, in the order of docs/benchmarks.md. */
export const NAMES: readonly string[] = [
  'tree',
  'latency',
  'events',
  'locks',
  'fan-out',
  'storm',
  'read',
  'scale',
  'scale:prefilled',
  'engines',
  'log-search',
  'output-search',
  'mutation',
  'abuse',
  'others',
]
/** Those that also compare this checkout with another commit. */
const PAIRED: readonly string[] = ['tree', 'latency', 'mutation', 'fan-out']
const ROUNDS = 3
const PAIRED_ROUNDS = 10
const MAX_ROUNDS = 1_000

export interface Arguments {
  /** In the order in which they run. */
  readonly names: readonly string[]
  /** The commit that this checkout is compared with; null: peers. */
  readonly against: string | null
  readonly rounds: number
  /** Part of the requests, from 0 to 1, of which this checkout sends traces while it is compared; null: it does not trace. */
  readonly traced: number | null
  /** Of the attacks of `abuse`, and the parts of `events`, those whose name holds this; null: all. */
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
    },
  })
  const { against = null, only = null } = values
  return {
    names: choose(positionals, against === null ? NAMES : PAIRED),
    against,
    only,
    traced: values.traced === undefined ? null : readTraced(values.traced, against),
    rounds: values.rounds === undefined ? (against === null ? ROUNDS : PAIRED_ROUNDS) : readRounds(values.rounds),
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

function readRounds(text: string): number {
  const rounds = Number(text)
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= MAX_ROUNDS) return rounds
  throw new Error(`--rounds ${text} is not a whole number from 1 to ${MAX_ROUNDS}`)
}
