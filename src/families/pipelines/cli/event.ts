import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import type { Located } from '../../../cli/objects/address.ts'
import { type CancelOptions, cancelObject } from '../../../cli/objects/cancel-object.ts'
import { type DeleteOptions, deleteObject } from '../../../cli/objects/delete-object.ts'
import { type ObjectArgument, onObject } from '../../../cli/objects/object-command.ts'
import { LABELS, parseCount, parseLabel, parsePhases, withYes } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { notFoundRefusal } from '../../../client-model/index.ts'
import { type CreateOptions, createFromOptions } from './events/create.ts'
import { describeEvent, describeWorkload } from './events/describe.ts'
import { addEventList, EVENT_OPTIONS } from './events/list.ts'
import { eventLogs, type LogsOptions } from './events/logs.ts'
import { CANCEL_MANY, changeMany, DELETE_MANY, type ManyOptions } from './events/many.ts'
import { cloneEvent, type NewEventOptions, retryEvent } from './events/new-events.ts'
import { readEvent, readWorkload } from './events/read.ts'

const EVENT: ObjectArgument = { kind: 'EVENT', name: 'event', help: 'id, event-17, or web/event-17' }

/** `phaseline event …`: events with their workers and jobs. */
export function addEvent(event: Command, cli: Cli): void {
  addCreate(event, cli)
  addEventList(event.command('list'), cli).description('list events, the newest first')
  onObject<object>(event.command('get'), cli, EVENT, getEvent).description('show an event with its worker and jobs')
  onObject<CancelOptions>(event.command('cancel'), cli, EVENT, cancelObject)
    .description('cancel an event: its worker and jobs are ended')
    .option('--reason <text>', 'why, for the log')
    .option('--wait', 'follow it until nothing runs any more')
  withYes(onObject<DeleteOptions>(event.command('delete'), cli, EVENT, deleteObject))
    .description('delete an event with its worker and jobs, in any phase')
    .option('--wait', 'follow it until it is gone')
  const retry = onObject<NewEventOptions>(event.command('retry'), cli, EVENT, (session, { id }, options) =>
    retryEvent(session, id, options),
  )
  withNewEventOptions(retry).description('run the worker of an event that has ended once more, as a new event')
  const clone = onObject<NewEventOptions>(event.command('clone'), cli, EVENT, (session, { id }, options) =>
    cloneEvent(session, id, options),
  )
  withNewEventOptions(clone).description('let the same thing happen again, as new events for projects as they are now')
  addMany(event, cli)
  onObject<LogsOptions>(event.command('logs'), cli, EVENT, eventLogs)
    .description('print what the worker of an event, or one of its jobs, has written')
    .option('--job <name>', 'of this job, instead of the worker')
    .option('-f, --follow', 'follow new lines until it has ended')
    .option('--limit <count>', 'only so many of the newest lines', parseCount)
    .option('--after <cursor>', 'only what comes after this line; --json shows cursors')
}

function addCreate(event: Command, cli: Cli): void {
  const create = withSessionOptions(event.command('create'))
    .description('tell that something has happened')
    .requiredOption('--source <source>', 'where it comes from, such as github.com/acme')
    .requiredOption('--type <type>', 'what has happened, such as push')
    .option('--project <name>', 'for this project; otherwise for all that have subscribed to it')
    .option('--qualifier <key=value>', 'a subscription must have exactly these', parseLabel)
    .option('--label <key=value>', 'a subscription may ask for these', parseLabel)
    .option('--payload-file <file>', 'what the worker is handed as it is, - for standard input')
  withNewEventOptions(create).action(async (options: SessionOptions & CreateOptions) => {
    cli.exitCode = await withSession(cli.io, options, (session) => createFromOptions(session, options))
  })
}

function addMany(event: Command, cli: Cli): void {
  const add = (name: string, many: typeof CANCEL_MANY): Command => {
    const command = withSessionOptions(event.command(name))
      .requiredOption('--project <name>', 'of this project')
      .requiredOption('--phase <phases>', 'in these phases', parsePhases)
    for (const option of EVENT_OPTIONS) command.addOption(option)
    return withYes(command.addOption(LABELS)).action(async (options: SessionOptions & ManyOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => changeMany(session, many, options))
    })
  }
  add('cancel-many', CANCEL_MANY)
    .description('cancel all events that match')
    .option('--reason <text>', 'why, for the log')
  add('delete-many', DELETE_MANY).description('delete all events that match, with their workers and jobs')
}

const withNewEventOptions = (command: Command): Command =>
  command
    .option('--key <key>', 'idempotency key: the same again within a day brings nothing new')
    .option('-f, --follow', 'print what the workers write until they have ended; the exit code says how')

export async function getEvent(session: Session, { id, name }: Located): Promise<ExitCode> {
  const event = await readEvent(session, id)
  if (!event) return session.refuse(notFoundRefusal(`${name} is gone.`))
  session.emit(event)
  session.say(...describeEvent(event, Date.now(), session.paint))
  return EXIT.ok
}

export async function showWorkload(session: Session, { id, name }: Located): Promise<ExitCode> {
  const workload = await readWorkload(session, id)
  if (!workload) return session.refuse(notFoundRefusal(`${name} is gone.`))
  session.emit(workload)
  session.say(...describeWorkload(workload, Date.now(), session.paint))
  return EXIT.ok
}
