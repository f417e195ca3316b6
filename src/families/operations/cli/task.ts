import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { exportNamed } from '../../../cli/manifests/export-documents.ts'
import type { Located } from '../../../cli/objects/address.ts'
import { type CancelOptions, cancelObject } from '../../../cli/objects/cancel-object.ts'
import { type DeleteOptions, deleteObject } from '../../../cli/objects/delete-object.ts'
import { locateKind, type ObjectArgument, onObject } from '../../../cli/objects/object-command.ts'
import { FILES_HELP, parseFiles, withYes } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { notFoundRefusal } from '../../../client-model/index.ts'
import { describeJob, describeTask } from './tasks/describe.ts'
import { tasks } from './tasks/export.ts'
import { addTaskList } from './tasks/list.ts'
import { readJob, readTask } from './tasks/read.ts'
import { type RetryTaskOptions, type RunOptions, retryTask, runTask } from './tasks/run.ts'

const TASK: ObjectArgument = { kind: 'TASK', name: 'task', help: 'id, copy, or ops/copy' }

interface GetOptions {
  readonly job?: string
}

/** `phaseline task …`: jobs of gadgets on resources that they lock. */
export function addTask(task: Command, cli: Cli): void {
  addRun(task, cli)
  addTaskList(task.command('list'), cli).description('list tasks, the newest first')
  onObject<GetOptions>(task.command('get'), cli, TASK, getTask)
    .description('show a task with its jobs, what they do and what they lock')
    .option('--job <name>', 'only this job: its locks, journal and exports too')
  onObject<RetryTaskOptions>(task.command('retry'), cli, TASK, retryTask)
    .description('run what was not done of a task that has ended, as a new task')
    .option('--job <name...>', 'only these jobs, whatever became of them')
    .option('--all', 'run all of its jobs again')
    .option('--name <name>', 'name of the new task (default: that of the old one with a number, e.g. copy-2)')
    .option('--key <key>', 'idempotency key: the same again within a day starts nothing new')
    .option('-f, --follow', 'show the task until it has ended; the exit code says how')
  onObject<object>(task.command('export'), cli, TASK, (session, { id }) =>
    exportNamed(session, [tasks], [id], {}),
  ).description('print the manifest of a task, as `task run` takes it')
  onObject<CancelOptions>(task.command('cancel'), cli, TASK, cancelObject)
    .description('cancel a task: nothing new starts, what runs is stopped and cleaned up')
    .option('--reason <text>', 'why, for the log')
    .option('--wait', 'follow it until nothing runs any more')
  withYes(onObject<DeleteOptions>(task.command('delete'), cli, TASK, deleteObject))
    .description('delete a task that has ended, with its jobs')
    .option('--wait', 'follow it until it is gone')
}

function addRun(task: Command, cli: Cli): void {
  withSessionOptions(task.command('run'))
    .description('start the tasks of YAML or JSON documents, one a file')
    .requiredOption('-f, --file <file...>', FILES_HELP, parseFiles)
    .option('--project <name>', 'project, if the file names none (default: "default")')
    .option('--key <key>', 'idempotency key: the same again within a day starts nothing new')
    .option('--follow', 'show the task until it has ended; the exit code says how')
    .action(async (options: SessionOptions & RunOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => runTask(session, options))
    })
}

async function getTask(session: Session, task: Located, { job }: GetOptions): Promise<ExitCode> {
  if (job === undefined) return await showTask(session, task)
  const located = await locateKind(session, `${task.name}/${job}`, 'GADGET_JOB', { project: task.project.name })
  return located.ok ? await showJob(session, located.value) : session.refuse(located.refusal)
}

export async function showTask(session: Session, { id, name }: Located): Promise<ExitCode> {
  const task = await readTask(session, id)
  if (!task) return session.refuse(notFoundRefusal(`${name} is gone.`))
  session.emit(task)
  session.say(...describeTask(task, Date.now(), session.paint))
  return EXIT.ok
}

export async function showJob(session: Session, { id, name }: Located): Promise<ExitCode> {
  const job = await readJob(session, id)
  if (!job) return session.refuse(notFoundRefusal(`${name} is gone.`))
  session.emit(job)
  session.say(...describeJob(job, Date.now(), session.paint))
  return EXIT.ok
}
