import { type Command, InvalidArgumentError } from 'commander'
import { AUDIT_OUTCOMES } from '../../core/audit.ts'
import { list } from '../audit/list.ts'
import { type AuditFilter, eventsAfter } from '../audit/read-events.ts'
import { type KnownHead, verify } from '../audit/verify.ts'
import type { Cli } from '../cli.ts'
import { locate, parseAddress } from '../objects/address.ts'
import { ALL_PROJECTS, parseCount, parseTime, withFollow } from '../options.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT } from '../terminal/exit.ts'
import { printJson } from '../terminal/io.ts'

interface ExportOptions extends SessionOptions {
  readonly after?: string
  readonly project?: string
}
interface VerifyOptions extends SessionOptions {
  readonly head?: KnownHead
}

interface ListOptions extends SessionOptions {
  readonly principal?: string
  readonly token?: string
  readonly operation?: string
  readonly project?: string
  readonly object?: string
  readonly outcome?: AuditFilter['outcome']
  readonly since?: string
  readonly until?: string
  readonly limit: number
  readonly follow?: boolean
}

/** `phaseline audit list|export|verify`: who has done what. */
export function addAudit(audit: Command, cli: Cli): void {
  withFollow(withSessionOptions(audit.command('list')), 'print what comes, too')
    .description('print the newest events, oldest first')
    .option('--principal <id>', 'only of this principal')
    .option('--token <id>', 'only with this token')
    .option('--operation <name>', 'only this field of the API, or such as session.opened')
    .option('--project <name>', 'only of this project')
    .addOption(ALL_PROJECTS)
    .option('--object <name>', 'only about this object: an id, or a path such as web/shop')
    .option('--outcome <outcome>', 'only done, refused or failed', parseOutcome)
    .option('--since <time>', 'only at this time or later: 2026-01-31T12:00:00Z, or 90m, 12h, 7d ago', parseTime)
    .option('--until <time>', 'only before this time', parseTime)
    .option('--limit <count>', 'how many of the newest', parseCount, 50)
    .action(async (options: ListOptions) => {
      const { limit, follow = false, object, project } = options
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const filter = filterOf(options)
        // Only the audit has the id of an object that is deleted.
        if (object === undefined || parseAddress(object).by === 'id')
          return await list(session, { filter: { ...filter, objectId: object ?? null }, limit, follow })
        const located = await locate(session, object, project === undefined ? {} : { project })
        if (!located.ok) return session.refuse(located.refusal)
        return await list(session, { filter: { ...filter, objectId: located.value.id }, limit, follow })
      })
    })
  withSessionOptions(audit.command('export'))
    .description('print events as JSON, one a line, oldest first')
    .option('--after <cursor>', 'resume after this event: its cursor, or its sequence')
    .option('--project <name>', 'only of this project')
    .action(async ({ after = '0', project, ...options }: ExportOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        for await (const events of eventsAfter(session, after, project === undefined ? {} : { project }))
          for (const event of events) printJson(session.io.stdout, event)
        return EXIT.ok
      })
    })
  withSessionOptions(audit.command('verify'))
    .description('check that no event was changed, removed or put in, and print the head of the chain')
    .option('--head <sequence:hash>', 'a head that was printed before', parseHead)
    .action(async ({ head, ...options }: VerifyOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => verify(session, head))
    })
}

function filterOf({ principal, token, since, until, operation, project, outcome }: ListOptions): AuditFilter {
  return {
    ...{ principalId: principal ?? null, tokenId: token ?? null },
    ...{ operation: operation ?? null, project: project ?? null, outcome: outcome ?? null },
    since: since ?? null,
    until: until ?? null,
  }
}

function parseOutcome(text: string): NonNullable<AuditFilter['outcome']> {
  const outcome = AUDIT_OUTCOMES.find((known) => known === text.toUpperCase())
  if (!outcome) throw new InvalidArgumentError('Expected done, refused or failed.')
  return outcome
}

function parseHead(text: string): KnownHead {
  const [, sequence, hash] = /^(\d{1,15}):([\da-f]{64})$/.exec(text) ?? []
  if (sequence === undefined || hash === undefined)
    throw new InvalidArgumentError('It is a sequence, a colon and 64 hexadecimal digits.')
  return { sequence: Number(sequence), hash }
}
