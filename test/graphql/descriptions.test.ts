import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'
import { undescribed } from '../testkit/undescribed.ts'

const printed = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')

test('every type, field, argument, input and value of the schema says what it means, and when it is null', () => {
  expect(undescribed(buildSchema(printed))).toEqual([])
})

test('what is not described, or does not say when it is null, is named by its coordinate', () => {
  const schema = buildSchema(`
    "Reads."
    type Query {
      task(id: ID!): Task
      "Tasks with the state."
      tasks("State of the tasks." state: State): Int!
    }
    "A task."
    type Task { "Its state" state: State! }
    "A state."
    enum State { OPEN }
  `)
  expect(undescribed(schema)).toEqual([
    'Query.task has no description',
    'Query.task(id:) has no description',
    'Query.tasks(state:) does not say what null means: State of the tasks.',
    'Task.state is described by no sentence: Its state',
    'State.OPEN has no description',
  ])
})
