import type { Command } from 'commander'
import { describeHealth, notFoundRefusal, subjectOfCause, titleOfCause } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import type { Cli } from '../cli.ts'
import type { ProjectOption } from '../objects/object-command.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'

const HEALTH = gql(`query Health($project: String) {
  health(project: $project) {
    verdict causeCount isComplete at
    causes { cause severity since project subject object { id } count message action command page }
  }
}`)
type Health = NonNullable<ResultOf<typeof HEALTH>['health']>
type Cause = Health['causes'][number]

const CODES: Readonly<Record<Health['verdict'], ExitCode>> = {
  HEALTHY: EXIT.ok,
  DEGRADED: EXIT.undecided,
  UNHEALTHY: EXIT.failed,
}

/** `phaseline health`: one verdict for people and scripts, with its causes and the next action of each. */
export function addHealth(command: Command, cli: Cli): void {
  withSessionOptions(command)
    .option('--project <name>', 'of this project alone (otherwise of all, and of the server if you may see it)')
    .action(async (options: SessionOptions & ProjectOption) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const { client, io, connection } = session
        const { project = null } = options
        const { health } = await client.query(HEALTH, { project }, { signal: io.signal })
        if (!health) return session.refuse(notFoundRefusal(`There is no project ${project} that you may read.`))
        session.emit(health)
        show(session, health, (page) => new URL(page, connection.url).href, options)
        return CODES[health.verdict]
      })
    })
}

function show(session: Session, health: Health, addressOf: (page: string) => string, { format }: SessionOptions): void {
  const { causes, causeCount } = health
  const now = Date.now()
  if (format !== 'name') session.say(describeHealth(health))
  const lines = causes.flatMap((one) => [
    titleOfCause(one, now),
    `  ${one.message}`,
    `  ${one.action}`,
    `  ${one.command}   ${addressOf(one.page)}`,
  ])
  const more = causeCount - causes.length
  session.list<Cause>({
    nodes: causes,
    columns: {
      CAUSE: ({ cause }) => cause,
      SEVERITY: ({ severity }) => severity,
      ABOUT: (one) => subjectOfCause(one, now),
      NEXT: ({ command }) => command,
    },
    ...(format !== 'wide' && { lines: [...lines, ...(more > 0 ? [`… and ${more} more`] : [])] }),
  })
}
