import { expect, test } from 'vitest'
import { bindCommands, command } from '../../src/families/command.ts'
import { viewerOf } from '../testkit/viewers.ts'

test('a property that a command does not read is a compile error, since it would be lost', () => {
  const echo = command(
    (_parts: object, _viewer, input: { readonly name: string }) => ({ ok: true as const, input }),
    [],
  )
  const { written } = bindCommands({}, { written: echo })
  const viewer = viewerOf('USER')
  expect(written(viewer, { name: 'a' })).toEqual({ ok: true, input: { name: 'a' } })
  const input = { name: 'a', description: 'lost' }
  // @ts-expect-error `description` is no property of its input.
  expect(written(viewer, input)).toMatchObject({ ok: true })
})
