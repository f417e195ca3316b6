import { expect, test } from 'vitest'
import { exportedLinks } from '../../web-playground/src/model/exported-links.ts'
import { MAX_NAME, MAX_VIEWS, readViews, withoutView, withView } from '../../web-playground/src/model/saved-views.ts'
import {
  asSaved,
  isScoped,
  projectIn,
  rewritten,
  scopedHref,
  shownSearch,
  withProject,
} from '../../web-playground/src/model/scope.ts'
import { fromLocalTime, localTime, TIME_RANGE, timeInput } from '../../web-playground/src/model/time-range.ts'

test('a project is chosen for the page that is shown, with its other filters; elsewhere for the overview', () => {
  expect(scopedHref('/objects', 'kind=TASK,EVENT&project=a', 'b')).toBe('/objects?kind=TASK,EVENT&project=b')
  expect(scopedHref('/objects', 'project=a', '')).toBe('/objects')
  // A link to one object would hide the choice.
  expect(scopedHref('/log/output', 'object=1&line=2&stream=STDERR', 'b')).toBe('/log/output?stream=STDERR&project=b')
  expect(scopedHref('/tree/1', 'object=2', 'a b&c')).toBe('/?project=a+b%26c')
  expect(projectIn('project=a+b%26c')).toBe('a b&c')
  expect(projectIn('')).toBe('')
  expect(isScoped('/agents')).toBe(false)
})

test('each address names the project that is shown, unless it names one, or all are meant anyway', () => {
  expect(withProject('/tree/1?object=2', 'a b', false)).toBe('/tree/1?object=2&project=a+b')
  expect(withProject('/#main', 'a', false)).toBe('/?project=a#main')
  expect(withProject('/objects?kind=TASK,EVENT&project=b', 'a', true)).toBe('/objects?kind=TASK,EVENT&project=b')
  // As it was before there was one to choose.
  for (const href of ['/', '/log?search=a%2Fb', '/schedules?zone=Europe/Berlin'])
    expect(withProject(href, '', false)).toBe(href)
  expect(withProject('/log', '', true)).toBe('/log?project=*')
  expect(withProject('/log?project=*', 'a', true)).toBe('/log?project=*')
  expect(withProject('/log?project=*', 'a', false)).toBe('/log')
  expect(asSaved('/log?search=x')).toBe('/log?search=x&project=*')
  expect(asSaved('/log?project=a')).toBe('/log?project=a')
})

test('a page reads a name or none, and that of one thing none', () => {
  expect(shownSearch('?kind=TASK', 'a')).toBe('?kind=TASK&project=a')
  expect(shownSearch('?kind=TASK', '')).toBe('?kind=TASK')
  expect(shownSearch('?project=*&kind=TASK', 'a')).toBe('?kind=TASK')
  expect(shownSearch('?project=b', 'a')).toBe('?project=b')
  expect(shownSearch('?object=1&project=b', 'a')).toBe('?object=1')
})

test('a filter without a project takes it away, unless its page is of one thing', () => {
  expect(rewritten('?project=a&search=x', '?search=x')).toBe('?search=x&project=*')
  expect(rewritten('?project=a', '?project=a&search=x')).toBe('?project=a&search=x')
  expect(rewritten('?search=x', '')).toBe('')
  expect(rewritten('?object=1&project=a', '?object=1&search=x')).toBe('?object=1&search=x')
})

test('a view is saved once, under its last name, in order', () => {
  const [b, a] = [
    { name: 'b', href: '/log?actor=USER' },
    { name: 'a', href: '/' },
  ]
  const views = withView(withView([], b), a)
  expect(views).toEqual([a, b])
  expect(withView(views, { ...b, name: 'A first' })).toEqual([a, { ...b, name: 'A first' }])
  expect(withoutView(views, a.href)).toEqual([b])
  expect(readViews(JSON.stringify(views))).toEqual(views)
})

test('views that lead elsewhere, have no name, or are too many are not taken, whoever has written them', () => {
  const hrefs = ['javascript:alert(1)', '//elsewhere.example', '/\\elsewhere.example', 'https://elsewhere.example', '']
  expect(readViews(JSON.stringify(hrefs.map((href) => ({ name: 'x', href }))))).toEqual([])
  expect(readViews(JSON.stringify([null, 1, {}, { name: ' ', href: '/' }]))).toEqual([])
  for (const text of ['{', '"x"', '{}', null]) expect(readViews(text)).toEqual([])
  expect(withView([], { name: 'x'.repeat(MAX_NAME + 1), href: '/' })).toEqual([])
  const full = Array.from({ length: MAX_VIEWS }, (_, i) => ({ name: `${i}`, href: `/objects?name=${i}` }))
  expect(withView(full, { name: 'one more', href: '/' })).toEqual(full)
})

test('exports are links if they are addresses of the web', () => {
  const exports = {
    url: 'https://shop.example/a?b=c',
    port: 80,
    text: 'see https://x.example',
    bad: 'http://',
    list: [],
  }
  expect(exportedLinks(exports)).toEqual([{ name: 'url', href: 'https://shop.example/a?b=c' }])
  for (const href of ['javascript:alert(1)', 'data:text/html,x', '//x.example', 'file:///etc', ' https://x.example'])
    expect(exportedLinks({ href })).toEqual([])
  for (const nothing of [null, undefined, 'https://x.example', 1]) expect(exportedLinks(nothing)).toEqual([])
})

test('a range of time is in the address, and asked for', () => {
  const chosen = { last: null, since: '2026-11-20T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z' }
  expect(TIME_RANGE.read(TIME_RANGE.write(chosen))).toEqual(chosen)
  expect(timeInput(chosen, 0)).toEqual({ since: chosen.since, until: chosen.until })
  expect(timeInput({ ...TIME_RANGE.all, last: 'hour' }, 3_600_000)).toEqual({ since: '1970-01-01T00:00:00.000Z' })
  expect(timeInput(TIME_RANGE.all, 0)).toEqual({})
  expect(TIME_RANGE.read('since=never&last=aeon')).toEqual(TIME_RANGE.all)
})

test('a field of date and time has the local time of the same moment', () => {
  for (const iso of ['2026-11-20T12:34:00.000Z', '2026-07-01T00:00:00.000Z'])
    expect(fromLocalTime(localTime(iso))).toBe(iso)
  expect(localTime('')).toBe('')
  expect(fromLocalTime('')).toBe('')
})
