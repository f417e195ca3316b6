import type { LabelArgument } from '../../../../cli/options.ts'
import type { Session } from '../../../../cli/session.ts'
import type { ExitCode } from '../../../../cli/terminal/exit.ts'
import { readExactly } from '../../../../cli/terminal/read-input.ts'
import { invalid } from '../../../../client-model/index.ts'
import { createEvent, type NewEventOptions } from './new-events.ts'

export interface CreateOptions extends NewEventOptions {
  readonly source: string
  readonly type: string
  readonly project?: string
  readonly qualifier?: readonly LabelArgument[]
  readonly label?: readonly LabelArgument[]
  readonly payloadFile?: string
}

/** `event create`. The payload is sent unchanged, byte by byte. */
export async function createFromOptions(session: Session, options: CreateOptions): Promise<ExitCode> {
  const { source, type, project, qualifier, label, payloadFile } = options
  const payload = payloadFile === undefined ? null : await readExactly(payloadFile, session.io.stdin)
  if (payload?.ok === false) return session.refuse(invalid(payload.message))
  const input = {
    ...{ source, type },
    ...(project === undefined ? {} : { project }),
    ...(qualifier === undefined ? {} : { qualifiers: qualifier }),
    ...(label === undefined ? {} : { labels: label }),
    ...(payload === null ? {} : { payload: payload.text }),
  }
  return await createEvent(session, input, options)
}
