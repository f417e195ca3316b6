import { type Command, Option } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import type { Located } from '../../../cli/objects/address.ts'
import { type ObjectArgument, onObject } from '../../../cli/objects/object-command.ts'
import { parseTime } from '../../../cli/options.ts'
import type { Session } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { invalid, REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'

export const SCHEDULE: ObjectArgument = { kind: 'SCHEDULE', name: 'schedule', help: 'id, nightly, or ci/nightly' }

const BACKFILL = gql(`mutation BackfillSchedule($input: BackfillScheduleInput!) {
  answer: backfillSchedule(input: $input) { __typename
    ... on Schedule { id name phase backfills(first: 1) { edges { node {
      id from until overlap refire by at state times waiting fired running skipped refused
    } } } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const CANCEL = gql(`mutation CancelBackfill($input: CancelBackfillInput!) {
  answer: cancelBackfill(input: $input) { __typename
    ... on Schedule { id name phase backfills(first: 1) { edges { node {
      id from until overlap refire by at state times waiting fired running skipped refused
    } } } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

interface Backfill {
  readonly from: string
  readonly until: string
  readonly state: string
  readonly times: number
  readonly waiting: number
  readonly fired: number
  readonly running: number
  readonly skipped: number
  readonly refused: number
}

/** A backfill in one line. */
export function backfillOf({ from, until, state, times, waiting, fired, running, skipped, refused }: Backfill): string {
  const counts = Object.entries({ fired, running, waiting, skipped, refused }).filter(([, count]) => count > 0)
  const rest = counts.map(([what, count]) => `, ${count} ${what}`).join('')
  return `${state}, ${times - waiting} of ${times} ${times === 1 ? 'time' : 'times'} decided${rest}: ${from} to ${until}`
}

interface BackfillOptions {
  readonly from?: string
  readonly until?: string
  readonly overlap?: 'QUEUE' | 'ALLOW'
  readonly refire?: boolean
  readonly cancel?: boolean
  readonly key?: string
}

/** `phaseline schedule backfill`: fires times that have passed. */
export function addBackfill(group: Command, cli: Cli): void {
  onObject<BackfillOptions>(group.command('backfill'), cli, SCHEDULE, backfill)
    .description('fire the times of a stretch that has passed, without those that have fired')
    .option('--from <time>', 'no time is before it: 2026-01-31T12:00:00Z, or 12h, 7d ago', parseTime)
    .option('--until <time>', 'no time is after it (default: now, as the server has it)', parseTime)
    .addOption(
      new Option('--overlap <policy>', 'QUEUE: one after the other; ALLOW: side by side').choices(['QUEUE', 'ALLOW']),
    )
    .option('--refire', 'also fire the times that have fired')
    .option('--cancel', 'cancel the backfill that runs; what it has started runs on')
    .option('--key <key>', 'idempotency key: the same again within a day fires nothing; needs --from as a date')
}

async function backfill(session: Session, { id }: Located, options: BackfillOptions): Promise<ExitCode> {
  const { from, until, overlap, refire, cancel, key } = options
  if (!cancel && from === undefined)
    return session.refuse(invalid('Say which times: --from 2026-01-31T12:00:00Z, or --from 7d. Or --cancel.'))
  const given = {
    ...(until !== undefined && { until }),
    ...(overlap && { overlap }),
    ...(refire && { refire }),
    ...(key !== undefined && { idempotencyKey: key }),
  }
  const outcome = cancel
    ? await ask(session, CANCEL, { id })
    : await ask(session, BACKFILL, { id, from: from ?? '', ...given })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(outcome.value)
  const { name, backfills } = outcome.value
  const [newest] = backfills.edges
  session.say(`${name}: ${newest ? backfillOf(newest.node) : 'no backfill'}`)
  return EXIT.ok
}
