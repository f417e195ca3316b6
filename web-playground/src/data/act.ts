import { type Client, ClientError } from 'phaseline/client'
import type { Action } from '../model/actions.ts'
import { messageOf } from './live-read.ts'
import { actMutation } from './made-documents.ts'

/** The outcome as a sentence. */
export interface Act {
  readonly ok: boolean
  readonly message: string
}
export interface Answered extends Act {
  /** There was no answer: whether it had an effect is not known. */
  readonly lost: boolean
}

/** A mutation, and its name for people. */
export interface Asked extends Pick<Action, 'field' | 'input' | 'variables'> {
  /** The sentence for success. */
  readonly done: string
}

export async function act(client: Client, { field, input, done, variables }: Asked): Promise<Answered> {
  try {
    const { answer } = await client.query(actMutation(field, input), { input: variables })
    if (answer?.message === undefined) return { ok: true, message: done, lost: false }
    return { ok: false, message: `${answer.code}: ${answer.message}`, lost: false }
  } catch (error) {
    return { ok: false, message: messageOf(error), lost: error instanceof ClientError && error.kind === 'network' }
  }
}
