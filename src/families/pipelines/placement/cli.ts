import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { addList } from '../../../cli/list.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { since, words } from '../../../cli/terminal/text.ts'
import { outcomeOf, REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../documents/typed-document.ts'

const PLACES = gql(`query Places($first: Int!, $after: String) {
  places(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node {
      id name type agentName labels { key value } capacity runningWorkers runningJobs state seenAt startingSince waitingSince
      drain { at by reason }
    } }
  }
}`)
type Place = NodeOf<ResultOf<typeof PLACES>['places']>

const DRAIN = gql(`mutation DrainPlace($input: DrainPlaceInput!) {
  answer: drainPlace(input: $input) { __typename ... on ChangedPlaces { places { name type state } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const UNDRAIN = gql(`mutation UndrainPlace($input: UndrainPlaceInput!) {
  answer: undrainPlace(input: $input) { __typename ... on ChangedPlaces { places { name type state } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

/** `phaseline places`: where runtimes start workers and jobs. */
export function addPlaces(command: Command, cli: Cli): void {
  addList(command, cli, {
    document: PLACES,
    page: ({ places }) => places,
    key: 'places',
    limit: 200,
    columns: {
      NAME: ({ name }) => name,
      TYPE: ({ type }) => type,
      STATE: ({ state }) => words(state),
      WORKERS: ({ runningWorkers, capacity }) => ofAll(runningWorkers, capacity),
      JOBS: ({ runningJobs, capacity }) => ofAll(runningJobs, capacity),
      LABELS: ({ labels }) => labels.map(({ key, value }) => `${key}=${value}`).join(', '),
      WHY: whyOf,
    },
    none: 'No runtime has registered a place.',
    missing: 'There are no places that you may see.',
  })
}

const ofAll = (count: number, capacity: number | null): string =>
  capacity === null ? `${count}` : `${count}/${capacity}`

function whyOf({ state, drain, seenAt, startingSince, waitingSince }: Place): string {
  if (state === 'DRAINED' && drain)
    return `by ${drain.by} ${since(drain.at)} ago${drain.reason ? `: ${drain.reason}` : ''}`
  if (state === 'LOST') return seenAt ? `seen ${since(seenAt)} ago` : 'not seen for long'
  if (state !== 'SLOW') return ''
  if (startingSince) return `starting for ${since(startingSince)}`
  return waitingSince ? `work waits for ${since(waitingSince)}` : 'leases are not renewed'
}

interface PlaceOptions extends SessionOptions {
  readonly type?: string
  readonly reason?: string
}

/** `phaseline place drain|undrain NAME`: whether a place takes new work. */
export function addPlace(place: Command, cli: Cli): void {
  const add = (verb: 'drain' | 'undrain', description: string): Command =>
    withSessionOptions(place.command(verb))
      .description(description)
      .argument('<name>', 'name of the place')
      .option('--type <type>', 'only the place of this type of runtime')
      .action(async (name: string, options: PlaceOptions) => {
        cli.exitCode = await withSession(cli.io, options, (session) => change(session, verb, name, options))
      })
  add('drain', 'let a place take nothing new; what runs there continues').option('--reason <text>', 'why, for people')
  add('undrain', 'let a place take work again')
}

async function change(
  session: Session,
  verb: 'drain' | 'undrain',
  name: string,
  { type, reason }: PlaceOptions,
): Promise<ExitCode> {
  const { signal } = session.io
  const named = { name, ...(type !== undefined && { type }) }
  const { answer } =
    verb === 'drain'
      ? await session.client.query(DRAIN, { input: { ...named, ...(reason !== undefined && { reason }) } }, { signal })
      : await session.client.query(UNDRAIN, { input: named }, { signal })
  const outcome = outcomeOf(answer)
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { places } = outcome.value
  session.emit({ places })
  session.say(...places.map((one) => `${one.name} (${one.type}) is ${words(one.state)}`))
  return EXIT.ok
}
