import { type Client, ClientError, type QueryOptions } from 'phaseline/client'
import type { Plan } from '../model/plan.ts'
import { type Answer, type Outcome, outcomeOf, refusal } from '../model/refusal.ts'
import { CREATED, CREATED_EVENTS, createMutation, PLAN } from './documents-create.ts'
import { messageOf } from './live-read.ts'

/** What was created, or stands where it would be. */
export interface CreatedObject {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly root: { readonly id: string }
}
export interface CreatedEvent extends CreatedObject {
  readonly phase: string
  readonly project: { readonly name: string }
}
export interface CreatedEvents {
  readonly events: readonly CreatedEvent[]
  readonly tasks: readonly CreatedEvent[]
}

/** Sends it, and says what became of it, whatever did. */
export async function ask<T extends object>(
  client: Client,
  document: string,
  input: object,
  options?: QueryOptions,
): Promise<Outcome<T>> {
  try {
    const { answer } = await client.query<{ answer: Answer<T> }>(document, { input }, options)
    return outcomeOf(answer)
  } catch (error) {
    options?.signal?.throwIfAborted()
    const isLost = error instanceof ClientError && (error.kind === 'network' || error.kind === 'http')
    return { ok: false, refusal: refusal(isLost ? 'NO_ANSWER' : 'REFUSED', messageOf(error)) }
  }
}

/** `field`: the mutation that creates it, or updates it. */
export const createObject = (client: Client, field: string, input: object): Promise<Outcome<CreatedObject>> =>
  ask(client, createMutation(field, CREATED), input)

export const createEvents = (client: Client, input: object): Promise<Outcome<CreatedEvents>> =>
  ask(client, createMutation('createEvent', CREATED_EVENTS), input)

export const planInstallation = (client: Client, input: object, signal: AbortSignal): Promise<Outcome<Plan>> =>
  ask(client, PLAN, input, { signal })
