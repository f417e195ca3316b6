import type { Client } from 'phaseline/client'
import { PAST_TIME_EXAMPLES, parsePastTime } from 'phaseline/client-model'
import { z } from 'zod'
import { type Answer, Unanswerable } from './answer.ts'

export interface Call {
  readonly client: Client
  readonly signal: AbortSignal
  readonly now: number
}
export interface Tool<Input extends z.ZodRawShape = z.ZodRawShape> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Input
  run(input: z.infer<z.ZodObject<Input>>, call: Call): Promise<Answer>
}
/** A tool as the server registers it: its input is what its schema says. */
export const tool = <Input extends z.ZodRawShape>(one: Tool<Input>): Tool => one as unknown as Tool

const LONGEST = 1_000
export const text = (description: string, most = LONGEST) => z.string().max(most).describe(description)
export const OBJECT = text('Id, or path such as shop/backend or PROJECT/shop/backend.')
export const PROJECT = text('Name of a project.').optional()
export const TIME = text(`A time: ${PAST_TIME_EXAMPLES}.`)
export const limit = (most: number, by: number) =>
  z.number().int().min(1).max(most).default(by).describe('At most this many.')

/** The time in the form of the API. */
export function timeOf(given: string, now: number): string {
  const time = parsePastTime(given, new Date(now))
  if (!time) throw new Unanswerable(`${JSON.stringify(given)} is no time: ${PAST_TIME_EXAMPLES}.`)
  return time.toISOString()
}
