import { type Command, InvalidArgumentError } from 'commander'
import { eventsAfter } from '../audit/read-events.ts'
import { type KnownHead, verify } from '../audit/verify.ts'
import type { Cli } from '../cli.ts'
import { parseCount } from '../options.ts'
import { type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT } from '../terminal/exit.ts'
import { printJson } from '../terminal/io.ts'

interface ExportOptions extends SessionOptions {
  readonly after?: number
  readonly project?: string
}
interface VerifyOptions extends SessionOptions {
  readonly head?: KnownHead
}

/** `phaseline audit export|verify`: who has done what. */
export function addAudit(program: Command, cli: Cli): void {
  const audit = program.command('audit').description('who has done what')
  withSessionOptions(audit.command('export'))
    .description('print events as JSON, one a line, oldest first')
    .option('--after <sequence>', 'go on after this event', parseCount)
    .option('--project <name>', 'only of this project')
    .action(async ({ after = 0, project, ...options }: ExportOptions) => {
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

function parseHead(text: string): KnownHead {
  const [, sequence, hash] = /^(\d{1,15}):([\da-f]{64})$/.exec(text) ?? []
  if (sequence === undefined || hash === undefined)
    throw new InvalidArgumentError('It is a sequence, a colon and 64 hexadecimal digits.')
  return { sequence: Number(sequence), hash }
}
