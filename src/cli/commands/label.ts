import type { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { type AddressOptions, locate, withAddressOptions } from '../objects/address.ts'
import { UPDATE_LABELS } from '../objects/update-labels.ts'
import { type LabelArgument, parseLabel } from '../options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'

interface LabelChanges {
  readonly set: readonly LabelArgument[]
  /** Keys. */
  readonly remove: readonly string[]
}

/** `phaseline label NAME key=value key-`. */
export function addLabel(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path')
    .argument('<changes...>', 'key=value sets a label, key- removes it', parseChange)
    .action(async (name: string, changes: LabelChanges, options: SessionOptions & AddressOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => label(session, name, changes, options))
    })
}

function parseChange(text: string, { set, remove }: Partial<LabelChanges> = {}): LabelChanges {
  const removed = /^([^=]+)-$/.exec(text)?.[1]
  if (removed) return { set: set ?? [], remove: [...(remove ?? []), removed] }
  return { set: parseLabel(text, set), remove: remove ?? [] }
}

async function label(
  session: Session,
  name: string,
  { set, remove }: LabelChanges,
  options: AddressOptions,
): Promise<ExitCode> {
  const located = await locate(session, name, options)
  if (!located.ok) return session.refuse(located.refusal)
  const input = { id: located.value.id, set: [...set], remove: [...remove] }
  const outcome = await ask(session, UPDATE_LABELS, input)
  if (!outcome.ok) return session.refuse(outcome.refusal)
  const { object } = outcome.value
  session.emit(object)
  const labels = (object?.labels ?? []).map(({ key, value }) => `${key}=${value}`).join(', ')
  session.say(`${located.value.name} has ${labels ? `the labels ${labels}` : 'no labels'}`)
  return EXIT.ok
}
