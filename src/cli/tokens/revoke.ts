import { invalid, notFoundRefusal, type Outcome, refused } from '../../client-model/index.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import { readNodes } from '../list.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Confirmable, onceConfirmed } from '../terminal/terminal-input.ts'
import { LIST_TOKENS, REVOKE_TOKEN, TOKEN_BY_ID } from './api.ts'

/** `token revoke`: by id, or by a name that only one token has that still works. */
export async function revokeToken(session: Session, text: string, options: Confirmable): Promise<ExitCode> {
  const found = await find(session, text)
  if (!found.ok) return session.refuse(found.refusal)
  const { id, name } = found.value
  return await onceConfirmed(session.io, options, `Revoke token ${name} (${id})?`, () => revoke(session, found.value))
}

async function revoke(session: Session, { id, name }: Found): Promise<ExitCode> {
  const outcome = await ask(session, REVOKE_TOKEN, { id })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit({ id, name, revoked: true })
  session.say(`${name} revoked: every server refuses it within 2 seconds.`)
  return EXIT.ok
}

interface Found {
  readonly id: string
  readonly name: string
}

async function find(session: Session, text: string): Promise<Outcome<Found>> {
  const { client, io } = session
  const { node } = await client.query(TOKEN_BY_ID, { id: text }, { signal: io.signal })
  if (node?.id) return { ok: true, value: node }
  const pages = { document: LIST_TOKENS, page: (answer: ResultOf<typeof LIST_TOKENS>) => answer.tokensConnection }
  const [first, ...others] = await readNodes(session, pages, { filter: { name: text, valid: true } })
  if (!first) return refused(notFoundRefusal(`There is no valid token ${text} that you may see: phaseline token list.`))
  if (others.length === 0) return { ok: true, value: first }
  const ids = [first, ...others].map(({ id }) => id)
  return refused(invalid(`${ids.length} tokens have the name ${text}. Give the id: ${ids.join(', ')}.`))
}
