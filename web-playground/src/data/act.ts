import { type Client, ClientError } from 'phaseline/client'
import type { Action } from '../model/actions.ts'
import { messageOf } from './live-read.ts'
import { actMutation } from './made-documents.ts'

/** The outcome as a sentence. */
export interface Act {
  readonly ok: boolean
  readonly message: string
}

/** A mutation, and its name for people. */
export interface Asked extends Pick<Action, 'field' | 'input' | 'variables'> {
  /** The sentence for success. */
  readonly done: string
}

/** The request may have arrived. */
const lost = (problem: string): string =>
  `No answer came (${problem}), so it may have been done or not: look before you ask again.`

export async function act(client: Client, { field, input, done, variables }: Asked): Promise<Act> {
  try {
    const { answer } = await client.query(actMutation(field, input), { input: variables })
    if (answer?.message === undefined) return { ok: true, message: done }
    return { ok: false, message: `${answer.code}: ${answer.message}` }
  } catch (error) {
    const isLost = error instanceof ClientError && error.kind === 'network'
    return { ok: false, message: isLost ? lost(error.message) : messageOf(error) }
  }
}
