import { type GraphQLInputObjectType, isInputObjectType } from 'graphql'
import { expect, test } from 'vitest'
import { SHARED_WORDS } from '../../src/core/descriptions.ts'
import { defineMachine } from '../../src/core/machine.ts'
import { families } from '../../src/families/index.ts'
import { createKindRegistry } from '../../src/graphql/family.ts'
import { gql } from '../testkit/gql.ts'
import { loaded, schema } from '../testkit/mutate.ts'
import { createApi } from './api.ts'

const verbs = families.flatMap(({ machines }) => machines).flatMap((machine) => machine.verbs)

test('every verb names a mutation whose input takes what the verb says', () => {
  expect(verbs.length).toBeGreaterThan(10)
  const mutations = schema.getMutationType()?.getFields() ?? {}
  for (const { mutation, input, flags } of verbs) {
    const type = schema.getType(`${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`)
    expect([mutation, mutation in mutations, isInputObjectType(type)]).toEqual([mutation, true, true])
    const fields = Object.keys((type as GraphQLInputObjectType).getFields())
    expect(fields).toEqual(expect.arrayContaining(['id', ...Object.keys(input), ...flags.map(({ name }) => name)]))
  }
})

test('no enum of the API is empty on a server with one family, which GraphQL does not allow', () => {
  for (const { graphql } of loaded)
    for (const key of ['kinds', 'phases', 'actors', 'actions'] as const) {
      // A family without objects is on no server alone.
      if (Object.keys(graphql.kinds).length === 0) continue
      const words = { ...SHARED_WORDS[key], ...graphql.words[key] }
      expect([graphql.name, key, Object.keys(words).length > 0]).toEqual([graphql.name, key, true])
    }
})

test('a kind has a verb of one name once', () => {
  const names = verbs.map(({ kind, name }) => `${kind} ${name}`)
  expect(names).toEqual([...new Set(names)])
})

test('the API lists all kinds with their machines, classes and verbs', async () => {
  await using api = await createApi()
  const answer = await api.query(
    gql(`{ families { name title kinds { kind noun type stateMachines {
    name phases classes { phase class } verbs { kind name label mutation phases to rootsOnly finished whileDeleting
      confirm danger input flags { name description confirmed } otherwise }
  } } } }`),
  )
  expect(answer.families.map(({ name }) => name)).toEqual(families.map(({ name }) => name))
  for (const { kinds } of answer.families) {
    for (const { kind, noun, type, stateMachines } of kinds) {
      expect([kind, noun === noun.toLowerCase(), schema.getType(type)?.name]).toEqual([kind, true, type])
      for (const { phases, classes } of stateMachines) expect(classes.map(({ phase }) => phase)).toEqual(phases)
    }
  }
  const task = answer.families.flatMap(({ kinds }) => kinds).find(({ kind }) => kind === 'TASK')
  expect(task?.stateMachines[0]?.verbs[0]).toMatchObject({
    name: 'cancel',
    mutation: 'cancelTask',
    phases: ['PENDING', 'RUNNING'],
    to: ['ABORTING'],
    input: {},
  })
})

test('a phase that has another class in another machine is refused', () => {
  const machine = defineMachine({
    name: 'odd',
    kinds: ['TASK'],
    initial: 'PENDING',
    final: ['READY'],
    rows: [['PENDING', 'CONTROLLER', 'READY', 'ready']],
    classes: { WAITING: ['PENDING'], FAILED: ['READY'] },
  })
  const all = loaded.map(({ graphql }) => graphql)
  const [first, ...rest] = all
  if (!first) throw new Error('there is no family')
  expect(() => createKindRegistry([...rest, { ...first, machines: [machine] }])).toThrow(
    'READY is FAILED here and DONE in another machine',
  )
})
