import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import { objectPage } from '../../core/object-page.ts'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'

interface OpenOptions extends SessionOptions, AddressOptions {
  readonly browser: boolean
}

/** `phaseline open [NAME]`: the dashboard, at an object. */
export function addOpen(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('[name]', 'id, or path')
    .option('--no-browser', 'only print it')
    .action(async (name: string | undefined, options: OpenOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => open(session, name, options))
    })
}

async function open(session: Session, name: string | undefined, options: OpenOptions): Promise<ExitCode> {
  const place = await placeOf(session, name, options)
  if (typeof place !== 'string') return place
  const { href: url } = new URL(place, session.connection.url)
  session.emit({ url })
  session.say(url)
  if (options.browser && !session.json && session.io.stdout.isTTY) openBrowser(url)
  return EXIT.ok
}

/** The path of a page, or the exit code of a refusal. */
async function placeOf(session: Session, name: string | undefined, options: OpenOptions): Promise<string | ExitCode> {
  if (name === undefined) return '/'
  const located = await locate(session, name, options)
  if (!located.ok) return session.refuse(located.refusal)
  const { id, root } = located.value
  return objectPage({ id, rootId: root.id })
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { linux: 'xdg-open', darwin: 'open' }

/** Without a browser the printed address suffices. */
function openBrowser(url: string): void {
  const command = OPENERS[process.platform]
  if (command === undefined) return
  const child = spawn(command, [url], { stdio: 'ignore', detached: true })
  child.once('error', () => undefined)
  child.unref()
}
