import { hookInput, hookManifest } from '../../manifest/index.ts'
import { reportDone } from '../objects/record-commands.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import type { ExitCode } from '../terminal/exit.ts'
import { UPDATE } from './apply.ts'
import type { FoundHook } from './find.ts'

/** Writes the hook as it is, with the switch as wanted. */
export async function setDisabled(session: Session, hook: FoundHook, disabled: boolean): Promise<ExitCode> {
  const { id, generation: expectedGeneration } = hook
  const outcome = await ask(session, UPDATE, {
    id,
    expectedGeneration,
    ...hookInput({ ...hookManifest(hook), disabled }),
    redelivery: hook.redelivery && { address: hook.redelivery.address },
  })
  return reportDone(session, outcome, `${hook.project.name}/${hook.name} ${disabled ? 'disabled' : 'enabled'}`)
}
