import type { Command } from 'commander'
import type { Cli, Standing } from '../../../cli/cli.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { since } from '../../../cli/terminal/text.ts'
import { ClientError } from '../../../client/client-error.ts'
import { holdsOf, type Outcome, REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'

const HOLDS = gql(`query AutomationHolds { automationHolds { reason by at project { name } } }`)
const HOLD = gql(`mutation HoldAutomation($input: HoldAutomationInput!) {
  answer: holdAutomation(input: $input) { __typename ... on AutomationHold { reason at } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const RELEASE = gql(`mutation ReleaseAutomation($input: ReleaseAutomationInput!) {
  answer: releaseAutomation(input: $input) { __typename ... on ReleasedAutomation { project { name } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

interface HoldOptions extends SessionOptions {
  readonly project?: string
}

/** `phaseline automation …`: the switch that stops schedules, hooks and notifications. */
export function addAutomation(group: Command, cli: Cli): void {
  withSessionOptions(group.command('status'))
    .description('list where automation is held')
    .action(async (options: SessionOptions) => {
      cli.exitCode = await withSession(cli.io, options, status)
    })
  const command = (name: string): Command =>
    withSessionOptions(group.command(name)).option('--project <name>', 'only of this project (otherwise of all)')
  command('hold')
    .description('stop it; what runs continues')
    .requiredOption('--reason <text>', 'shown until it is released')
    .action(async (options: HoldOptions & { readonly reason: string }) => {
      cli.exitCode = await withSession(cli.io, options, async (session) =>
        say(session, options, 'held', await ask(session, HOLD, { ...scopeOf(options), reason: options.reason })),
      )
    })
  command('release')
    .description('let it continue')
    .action(async (options: HoldOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) =>
        say(session, options, 'released', await ask(session, RELEASE, scopeOf(options))),
      )
    })
}

const scopeOf = ({ project }: HoldOptions) => (project === undefined ? {} : { project })

function say(session: Session, { project }: HoldOptions, what: string, outcome: Outcome<object>): ExitCode {
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit(outcome.value)
  session.say(`automation of ${project ?? 'all projects'} ${what}`)
  return EXIT.ok
}

/** Somebody has to release it: until then no schedule, hook or notification does anything. */
export const holdsNow: Standing = async ({ client, io }, project) => {
  const { automationHolds } = await client.query(HOLDS, {}, { signal: io.signal }).catch((error: unknown) => {
    // Agents may not see holds.
    if (error instanceof ClientError && error.code === 'FORBIDDEN') return { automationHolds: null }
    throw error
  })
  const holds = holdsOf(automationHolds ?? [], project)
  const lines = holds.flatMap(({ project: of, at, by, reason }) => [
    `held    automation of ${of?.name ?? 'all projects'} for ${since(at)}, by ${by}: ${reason}`,
    `        phaseline automation release${of ? ` --project ${of.name}` : ''} lets schedules, hooks and notifications act again`,
  ])
  return { lines, json: { automationHolds: holds } }
}

async function status(session: Session): Promise<ExitCode> {
  const { automationHolds } = await session.client.query(HOLDS, {}, { signal: session.io.signal })
  const holds = automationHolds ?? []
  session.emit(holds)
  if (holds.length === 0) session.say('Automation is held nowhere.')
  session.list({
    nodes: holds,
    columns: {
      PROJECT: ({ project }) => project?.name ?? 'all projects',
      REASON: ({ reason }) => reason,
      BY: ({ by }) => by,
      SINCE: ({ at }) => at,
    },
  })
  return EXIT.ok
}
