import type { Command } from 'commander'
import { notFoundRefusal, type Outcome } from '../../client-model/index.ts'
import type { Cli } from '../cli.ts'
import { withYes } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Confirmable, onceConfirmed } from '../terminal/terminal-input.ts'

/** The commands that all records of projects have: hooks, targets, notification rules. */

export interface RecordName {
  readonly project: string
  readonly name: string
}
export interface RecordOptions extends SessionOptions {
  readonly project?: string
}
export interface PageOptions extends RecordOptions {
  readonly limit: number
}

interface Records<Found> {
  /** E.g. `rule`. */
  readonly noun: string
  find(session: Session, wanted: RecordName): Promise<Found | null>
}
type Body<Options> = (session: Session, options: Options, argument: string) => Promise<ExitCode>

export interface RecordGroup<Found> {
  /** Runs the body with a session, and with the argument of the command, if it has one. */
  run<Options extends SessionOptions>(command: Command, body: Body<Options>): Command
  /** The same for a record that is there. */
  onRecord<Options extends RecordOptions>(
    name: string,
    body: (session: Session, found: Found, options: Options & RecordName) => Promise<ExitCode>,
  ): Command
  /** `delete`, which asks first. @param lost goes with the record */
  onDelete(lost: string, body: (session: Session, found: Found, wanted: RecordName) => Promise<ExitCode>): Command
}

export function recordGroup<Found>(group: Command, cli: Cli, { noun, find }: Records<Found>): RecordGroup<Found> {
  const run = <Options extends SessionOptions>(command: Command, body: Body<Options>): Command =>
    withSessionOptions(command).action(async (...given: readonly unknown[]) => {
      const [argument, options] = typeof given[0] === 'string' ? [given[0], given[1]] : ['', given[0]]
      cli.exitCode = await withSession(cli.io, options as Options, (session) =>
        body(session, options as Options, argument),
      )
    })
  const onRecord = <Options extends RecordOptions>(
    name: string,
    body: (session: Session, found: Found, options: Options & RecordName) => Promise<ExitCode>,
  ): Command =>
    run<Options>(
      group
        .command(name)
        .argument(`<${noun}>`, `its name, or <project>/<name>`)
        .option('--project <name>', 'project (default: "default")'),
      async (session, options, argument) => {
        const wanted = nameIn(argument, options.project)
        const found = await find(session, wanted)
        return found
          ? await body(session, found, { ...options, ...wanted })
          : session.refuse(
              notFoundRefusal(`There is no ${noun} ${wanted.name} in ${wanted.project} that you may read.`),
            )
      },
    )
  const onDelete: RecordGroup<Found>['onDelete'] = (lost, body) =>
    withYes(
      onRecord<RecordOptions & Confirmable>('delete', (session, found, options) =>
        onceConfirmed(session.io, options, `Delete ${noun} ${options.project}/${options.name} with ${lost}?`, () =>
          body(session, found, options),
        ),
      ),
    )
  return { run, onRecord, onDelete }
}

/** `github` of the project, or `ci/github`. */
export function nameIn(text: string, project = 'default'): RecordName {
  const [first = '', second] = text.split('/')
  return second === undefined ? { project, name: first } : { project: first, name: second }
}

/** Says what was done, or why not. @param emitted by default the answer */
export function reportDone(session: Session, outcome: Outcome<object>, said: string, emitted?: object): ExitCode {
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(emitted ?? outcome.value)
  session.say(said)
  return EXIT.ok
}
