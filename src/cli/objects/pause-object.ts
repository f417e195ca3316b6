import { invalid } from '../../client-model/index.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import type { Located } from './address.ts'
import { findVerb, readMachines } from './machines.ts'
import { verbDocument } from './verbs.ts'

/** Pauses or resumes the tree of a root, or a schedule. */
export async function pauseObject(
  session: Session,
  { id, kind, name, root }: Located,
  { verb: wanted, reason }: { readonly verb: 'pause' | 'resume'; readonly reason?: string },
): Promise<ExitCode> {
  const verb = findVerb(await readMachines(session.client, session.io.signal), kind, wanted)
  if (!verb || id !== root.id) return session.refuse(invalid(`Only a whole tree is paused: ${wanted} ${root.name}.`))
  const outcome = await ask(session, verbDocument(verb), { id, ...(reason === undefined ? {} : { reason }) })
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit({ id, kind, name })
  session.say(`${name} ${wanted === 'pause' ? 'is paused' : 'is resumed'}`)
  return EXIT.ok
}
