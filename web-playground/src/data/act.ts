import type { Client } from 'phaseline/client'
import type { Action } from '../model/actions.ts'
import { actMutation } from './documents.ts'
import { messageOf } from './live-read.ts'

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

export async function act(client: Client, { field, input, done, variables }: Asked): Promise<Act> {
  try {
    const { answer } = await client.query(actMutation(field, input), { input: variables })
    if (answer?.message === undefined) return { ok: true, message: done }
    return { ok: false, message: `${answer.code}: ${answer.message}` }
  } catch (error) {
    return { ok: false, message: messageOf(error) }
  }
}
