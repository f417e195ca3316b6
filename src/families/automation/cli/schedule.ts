import { type Command, Option } from 'commander'
import type { Cli, ShowObject } from '../../../cli/cli.ts'
import { addApplyOf } from '../../../cli/manifests/apply-documents.ts'
import { exportNamed } from '../../../cli/manifests/export-documents.ts'
import type { Located } from '../../../cli/objects/address.ts'
import { type DeleteOptions, deleteObject } from '../../../cli/objects/delete-object.ts'
import { describeObject, OBJECT_FIELDS } from '../../../cli/objects/describe-object.ts'
import { onObject } from '../../../cli/objects/object-command.ts'
import { addObjectList } from '../../../cli/objects/object-list.ts'
import { markedPhase } from '../../../cli/objects/phases.ts'
import { parseCount, withYes } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { nodesOf, notFoundRefusal, type Outcome, REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import { schedules } from './apply.ts'
import { holdsNow } from './automation.ts'
import { addBackfill, backfillOf, SCHEDULE } from './backfill.ts'

const LIST = gql(`query ListSchedules($filter: ObjectFilter, $first: Int!, $after: String) {
  objects(filter: $filter, first: $first, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id name phase phaseClass project { name }
      ... on Schedule { due firedCount scheduleSpec { words run } firings(first: 1) { edges { node { due outcome reason } } } } } }
  }
}`)
const GET = gql(`query GetSchedule($id: ID!, $first: Int!) {
  object(id: $id) { ...Full
    ... on Schedule {
      due firedCount editor pausedBecause nextTimes(first: 10)
      scheduleSpec { words cron timeZone every { ms offsetMs } at start until count jitterMs overlap maxQueued catchUp maxCaughtUp graceMs successWithinSeconds run }
      firings(first: $first) { edges { node { due lastDue times at byHand outcome reason started { id kind name phase } } } }
      backfills(first: 1) { edges { node { id from until overlap refire by at state times waiting fired running skipped refused } } }
    } }
}\n${OBJECT_FIELDS}`)
const NEXT = gql(`query NextTimes($when: ScheduleWhenInput!, $first: Int!) { nextTimes(when: $when, first: $first) }`)
const FIRE = gql(`mutation FireSchedule($input: FireScheduleInput!) {
  answer: fireSchedule(input: $input) { __typename ... on Schedule { id name phase } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const PAUSE = gql(`mutation PauseSchedule($input: PauseScheduleInput!) {
  answer: pauseSchedule(input: $input) { __typename ... on Schedule { id name phase } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const RESUME = gql(`mutation ResumeSchedule($input: ResumeScheduleInput!) {
  answer: resumeSchedule(input: $input) { __typename ... on Schedule { id name phase } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

interface NextOptions extends SessionOptions {
  readonly cron: readonly string[]
  readonly timeZone: string
  readonly count: number
}

/** `phaseline schedule …`: what starts by itself. */
export function addSchedule(group: Command, cli: Cli): void {
  addApplyOf(group, cli, schedules)
  addScheduleList(group.command('list'), cli).description('list schedules, the newest first')
  onObject<{ readonly limit: number }>(group.command('get'), cli, SCHEDULE, get)
    .description('show a schedule with its next times and its last firings')
    .option('--limit <count>', 'show at most this many firings', parseCount, SHOWN)
  withSessionOptions(group.command('next'))
    .description('print the next times of a line of cron, without a schedule')
    .argument('<cron...>', 'lines of five or six fields, in quotes')
    .option('--time-zone <name>', 'such as Europe/Berlin', 'UTC')
    .option('--count <count>', 'print this many', parseCount, 10)
    .action(async (cron: readonly string[], options: Omit<NextOptions, 'cron'>) => {
      cli.exitCode = await withSession(cli.io, options, (session) => next(session, { ...options, cron }))
    })
  onObject<{ readonly key?: string }>(group.command('fire'), cli, SCHEDULE, async (session, { id }, { key }) =>
    say(session, 'fired', await ask(session, FIRE, { id, ...(key === undefined ? {} : { idempotencyKey: key }) })),
  )
    .description('fire a schedule once more, now')
    .option('--key <key>', 'idempotency key: the same again within a day fires nothing')
  onObject<object>(group.command('export'), cli, SCHEDULE, (session, { id }) =>
    exportNamed(session, [schedules], [id], {}),
  ).description('print the manifest of a schedule')
  addBackfill(group, cli)
  onObject<{ readonly reason?: string }>(group.command('pause'), cli, SCHEDULE, async (session, { id }, { reason }) =>
    say(session, 'paused', await ask(session, PAUSE, { id, ...(reason === undefined ? {} : { reason }) })),
  )
    .description('pause a schedule: times that pass are skipped')
    .addOption(new Option('--reason <text>', 'shown while it is paused'))
  onObject<object>(group.command('resume'), cli, SCHEDULE, async (session, { id }) =>
    say(session, 'resumed', await ask(session, RESUME, { id })),
  ).description('let a schedule fire again, from its next time on')
  withYes(onObject<DeleteOptions>(group.command('delete'), cli, SCHEDULE, deleteObject)).description(
    'delete a schedule; what it has started runs on',
  )
}

type Answer = Outcome<{ readonly id: string; readonly name: string; readonly phase: string }>
function say(session: Session, what: string, outcome: Answer): ExitCode {
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(outcome.value)
  session.say(`${outcome.value.name} ${what}, now ${outcome.value.phase}`)
  return EXIT.ok
}

const addScheduleList = (command: Command, cli: Cli): Command =>
  addObjectList(command, cli, {
    kind: 'SCHEDULE',
    document: LIST,
    key: 'schedules',
    columns: {
      PROJECT: ({ project }) => project.name,
      NAME: ({ name }) => name,
      PHASE: markedPhase,
      NEXT: ({ due }) => due,
      TIMES: ({ scheduleSpec }) => scheduleSpec?.words,
      STARTS: ({ scheduleSpec }) => Object.keys((scheduleSpec?.run as object | undefined) ?? {})[0],
      LAST: ({ firings }) => firings.edges.map(({ node }) => outcomeOf(node))[0],
    },
    none: 'There is no schedule.',
    automatic: true,
  })

const outcomeOf = ({ outcome, reason }: { readonly outcome: string; readonly reason: string | null }): string =>
  reason === null ? outcome : `${outcome}: ${reason}`

/** Firings that are shown. */
const SHOWN = 20

export const showSchedule: ShowObject = (session, object) => get(session, object, { limit: SHOWN })

async function get(session: Session, { id, name }: Located, { limit }: { readonly limit: number }): Promise<ExitCode> {
  const { client, io, paint } = session
  const { object } = await client.query(GET, { id, first: limit }, { signal: io.signal })
  if (!object || !('scheduleSpec' in object) || !object.scheduleSpec)
    return session.refuse(notFoundRefusal(`${name} is gone.`))
  session.emit(object)
  const { lines: held } = await holdsNow(session, object.project.name)
  const { scheduleSpec: spec, nextTimes, firings, backfills, editor, firedCount, pausedBecause } = object
  const fields = [
    ['paused because', pausedBecause],
    ['times', spec.words],
    ['cron', spec.cron.length > 0 ? `${spec.cron.join(', ')} in ${spec.timeZone}` : null],
    ['starts', JSON.stringify(spec.run)],
    ['overlap', spec.overlap],
    ['catches up', spec.catchUp],
    ['overdue without a success for', spec.successWithinSeconds === null ? null : `${spec.successWithinSeconds} s`],
    ['acts with the rights of', editor],
    ['fired by itself', `${firedCount} ${firedCount === 1 ? 'time' : 'times'}`],
    ['last backfill', backfills.edges[0] ? backfillOf(backfills.edges[0].node) : null],
    ['held', held.length > 0 ? 'automation is held, so its times are skipped: `phaseline automation status`' : null],
    ['next', nextTimes.length > 0 ? nextTimes.map((time) => inZone(time, spec.timeZone)) : 'no time is to come'],
  ] as const
  session.say(...describeObject(object, Date.now(), paint, fields))
  session.list({
    nodes: nodesOf(firings),
    columns: {
      DUE: ({ due }) => due,
      '': ({ lastDue, times, byHand }) => (lastDue ? `${times ?? 'more'} times` : byHand ? 'by hand' : ''),
      OUTCOME: outcomeOf,
      STARTED: ({ started }) => started && `${object.project.name}/${started.name} ${started.phase}`,
    },
  })
  return EXIT.ok
}

async function next(session: Session, { cron, timeZone, count }: NextOptions): Promise<ExitCode> {
  const { client, io } = session
  const { nextTimes } = await client.query(
    NEXT,
    { when: { cron: [...cron], timeZone }, first: count },
    { signal: io.signal },
  )
  const times = nextTimes ?? []
  session.emit(times)
  session.say(...(times.length > 0 ? times.map((time) => inZone(time, timeZone)) : ['no time is to come']))
  return EXIT.ok
}

/** e.g. `2027-03-28T01:00:00.000Z  2027-03-28 03:00 +02:00 Europe/Berlin`: a line of cron is about the clock of its zone. */
function inZone(time: string, timeZone: string): string {
  if (timeZone === 'UTC') return time
  const [date, clock, offset = ''] = Intl.DateTimeFormat('sv-SE', { ...CLOCK, timeZone })
    .format(new Date(time))
    .split(' ')
  return `${time}  ${date} ${clock} ${offset.replace('GMT', '')} ${timeZone}`
}
const CLOCK: Intl.DateTimeFormatOptions = {
  ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  timeZoneName: 'longOffset',
}
