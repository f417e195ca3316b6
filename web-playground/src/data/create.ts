import { type Client, ClientError, type QueryOptions, type TypedDocument } from 'phaseline/client'
import type { Plan } from '../model/plan.ts'
import { type Member, type Outcome, outcomeOf, type Payload, refusal } from '../model/refusal.ts'
import { CREATE, CREATE_EVENT, PLAN } from './documents-create.ts'
import type { ResultOf } from './gql.ts'
import { messageOf } from './live-read.ts'

export type CreatedEvents = Payload<NonNullable<ResultOf<typeof CREATE_EVENT>['answer']>>
export type CreatedEvent = CreatedEvents['events'][number]
/** An object that was created. */
export type CreatedObject = Pick<CreatedEvent, 'id' | 'name' | 'kind' | 'root'>

/** Sends a mutation, and returns also a lost connection as a refusal. Forms build their inputs from text: the server validates them. */
export async function ask<T extends Member, Input>(
  client: Client,
  document: TypedDocument<{ readonly answer: T | null }, { readonly input: Input }>,
  input: object,
  options?: QueryOptions,
): Promise<Outcome<Payload<T>>> {
  try {
    const { answer } = await client.query(document, { input: input as Input }, options)
    return outcomeOf(answer)
  } catch (error) {
    options?.signal?.throwIfAborted()
    const isLost = error instanceof ClientError && (error.kind === 'network' || error.kind === 'http')
    return { ok: false, refusal: refusal(isLost ? 'NO_ANSWER' : 'REFUSED', messageOf(error)) }
  }
}

/** `field`: the mutation that creates or updates the object. */
export const createObject = (
  client: Client,
  field: keyof typeof CREATE,
  input: object,
): Promise<Outcome<CreatedObject>> => ask(client, CREATE[field] as AnyCreate, input)

/** All of them have the same selection; their inputs differ. */
type AnyCreate = TypedDocument<{ readonly answer: Extract<CreateAnswer, Member> | null }, { readonly input: object }>
type CreateAnswer = ResultOf<(typeof CREATE)[keyof typeof CREATE]>['answer']

export const createEvents = (client: Client, input: object): Promise<Outcome<CreatedEvents>> =>
  ask(client, CREATE_EVENT, input)

export const planInstallation = (client: Client, input: object, signal: AbortSignal): Promise<Outcome<Plan>> =>
  ask(client, PLAN, input, { signal })
