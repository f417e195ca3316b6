import type { Client } from 'phaseline/client'
import type { Action } from '../model/actions.ts'
import { actMutation } from './documents.ts'
import { messageOf } from './live-read.ts'

/** What came of it, in words. */
export interface Act {
  readonly ok: boolean
  readonly message: string
}

export async function act(client: Client, { field, input, label, variables }: Action): Promise<Act> {
  try {
    const { answer } = await client.query<{ answer: { readonly code?: string; readonly message?: string } | null }>(
      actMutation(field, input),
      { input: variables },
    )
    if (answer?.message === undefined) return { ok: true, message: `${label}: asked for.` }
    return { ok: false, message: `${answer.code}: ${answer.message}` }
  } catch (error) {
    return { ok: false, message: messageOf(error) }
  }
}
