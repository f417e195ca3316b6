import { expect, test } from 'vitest'
import { fits, isAt, soughtIn, verbFor, verbIn } from '../../web-playground/src/model/sought.ts'
import { known, row } from './samples.ts'

test.each([
  ['', null],
  [' web ', { by: 'name', name: 'web' }],
  ['Shop/Backend/', { by: 'path', path: 'shop/backend', names: ['Shop', 'Backend'] }],
  ['/', null],
  ['app=shop', { by: 'label', label: { key: 'app', value: 'shop' } }],
  ['example.org/team=', { by: 'label', label: { key: 'example.org/team', value: '' } }],
  ['0197AAAA-1111-7222-8333-444455556666', { by: 'id', id: '0197aaaa-1111-7222-8333-444455556666' }],
  ['0197aaaa', { by: 'name', name: '0197aaaa' }],
])('"%s" is looked for as %j', (text, sought) => expect(soughtIn(text)).toEqual(sought))

test('a path is found with its project and without', () => {
  const object = row('a', { path: 'Shop/backend/db', project: { name: 'prod' } })
  expect(['shop/back', 'prod/shop', 'backend/db'].map((text) => isAt(object, text))).toEqual([true, true, true])
  expect(isAt(object, 'shop/db')).toBe(false)
})

test('what was found before stays while it is still looked for', () => {
  const object = row('0197aaaa-1111-7222-8333-444455556666', {
    ...{ name: 'Web-B', path: 'shop/Web-B', labels: [{ key: 'app', value: 'shop' }] },
  })
  const stays = (text: string): boolean => {
    const sought = soughtIn(text)
    return sought !== null && fits(object, sought)
  }
  expect([object.id, 'app=shop', 'web-b', 'shop/web'].map(stays)).toEqual([true, true, true, true])
  expect(['0197aaaa-1111-7222-8333-444455556667', 'app=web', 'web-a', 'shop/a'].map(stays)).toEqual(
    Array(4).fill(false),
  )
})

test('a verb is one of the server, before a name', () => {
  const verb = (text: string) => verbIn(known.stateMachines, text)
  expect(verb('Cancel shop')).toEqual({ verb: 'cancel', rest: 'shop' })
  expect(verb(' delete  shop/web ')).toEqual({ verb: 'delete', rest: 'shop/web' })
  expect([verb('cancel'), verb('cancel '), verb('find shop'), verb('cancelled shop')]).toEqual([null, null, null, null])
})

test('a verb is offered for what may take it as it is', () => {
  const installation = (phase: string, finished: boolean, parent: string | null) =>
    row('i', { kind: 'INSTALLATION', phase, finished, parent: parent === null ? null : { id: parent } })
  expect(verbFor(installation('PROGRESSING', false, null), 'cancel')?.label).toBe('Cancel')
  expect(verbFor(installation('SUCCEEDED', true, null), 'cancel')).toBeUndefined()
  expect(verbFor(installation('SUCCEEDED', true, null), 'delete')?.label).toBe('Delete')
  expect(verbFor(installation('PROGRESSING', false, 'root'), 'cancel')).toBeUndefined()
  expect(verbFor(row('d'), 'cancel')).toBeUndefined()
})
