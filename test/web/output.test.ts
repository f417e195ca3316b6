import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createClient, runAgent } from '../../src/client/index.ts'
import { isAtLeast, levelOf } from '../../web-playground/src/model/line-level.ts'
import { OUTPUT_FILTER } from '../../web-playground/src/model/output-filter.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { create } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { goToFolded, visit, widerBy } from './visit.ts'

test.each([
  ['2026-11-25 ERROR cannot connect', 'error'],
  ['[warn] disk is nearly full', 'warning'],
  ['{"level":50,"msg":"broken"}', 'error'],
  ['{"level":30,"msg":"no error"}', null],
  ['{"severity":"Warning","msg":"x"}', 'warning'],
  ['terror and warnings', null],
  [`${'x'.repeat(100)} error`, null],
] as const)('the level of %s is %s', (text, level) => {
  expect(levelOf(text)).toBe(level)
  expect(isAtLeast(text, 'warning')).toBe(level !== null)
  expect(isAtLeast(text, 'error')).toBe(level === 'error')
})

test('the address has the filter', () => {
  const filter = {
    ...OUTPUT_FILTER.all,
    object: 'a',
    text: 'b c',
    stream: 'STDERR',
    level: 'error',
    last: 'day',
    line: '7',
  } as const
  expect(OUTPUT_FILTER.read(OUTPUT_FILTER.write(filter))).toEqual(filter)
  expect(OUTPUT_FILTER.write(OUTPUT_FILTER.all)).toBe('')
  expect(OUTPUT_FILTER.read('?stream=x&level=y&last=z')).toEqual(OUTPUT_FILTER.all)
})

const here = usePlace()
const rows = (page: Page) => page.locator('.output-row')
const LINES = 1_500

/** Work that prints the given text, and runs until it is aborted. */
async function printing(signal: AbortSignal): Promise<(text: string) => void> {
  const token = { name: 'printers', role: 'AGENT', types: ['printer'] } as const
  const { secret } = await ask(here.server.client, MUTATIONS.createToken, token)
  const client = createClient({ url: here.server.url, token: secret })
  let print: ((text: string) => void) | null = null
  void runAgent({
    ...{ client, instance: 'printer', types: ['printer'], signal },
    async work(_item, { log }) {
      print = (text) => log('STDOUT', text)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { phase: 'SUCCEEDED' }
    },
  }).finally(() => client.close())
  return (text) => print?.(text)
}

test('output of a tree is read, searched, linked to, followed and saved', async () => {
  const stop = new AbortController()
  const print = await printing(stop.signal)
  const root = await create(here.server.client, 'prints', { deployItems: [{ name: 'one', type: 'printer' }] })
  const at = `${here.server.origin}/log/output?root=${root}`
  await using visited = await visit(here.browser, here.server, `/tree/${root}`)
  const { page, complaints } = visited
  try {
    await until(
      async () => {
        print('begin')
        return (await page.locator('.node[data-phase=PROGRESSING]').count()) > 0
      },
      { what: 'it works' },
    )
    for (let i = 0; i < LINES; i += 1) print(`line ${i}${i % 500 === 7 ? ' ERROR needle' : ''}`)
    print('\u001b[31mred\u001b[0m and plain')
    await page.goto(at)
    await rows(page).last().getByText('red and plain').waitFor()
    expect(await page.locator('.ansi-red').textContent()).toBe('red')
    expect(await rows(page).last().textContent()).toContain('prints/deploy-items/one')
    expect(await seriousFindings(page)).toEqual([])
    // A new line is shown at the end.
    print('and one more')
    await rows(page).last().getByText('and one more').waitFor()

    await page.getByLabel('Search').fill('needle')
    await page.getByText('3 lines shown').waitFor()
    await page.locator('.output-row.is-error').nth(2).waitFor()
    await page.waitForURL(/search=needle/)
    await page.getByLabel('Search').fill('')
    await page.waitForURL((url) => !url.search.includes('search'))
    await page.getByLabel('Level').selectOption('error')
    await page.waitForURL(/level=error/)
    await page.getByText('3 lines shown').waitFor()

    // A line has an address of its own, with what was printed around it.
    await rows(page).nth(1).getByRole('link').first().click()
    await page.waitForURL(/line=/)
    const address = page.url().replace('level=error&', '')
    await page.goto('about:blank')
    await page.goto(address)
    await page.locator('.output-row.is-linked').getByText('line 507 ERROR needle').waitFor()
    await rows(page).getByText('line 506', { exact: true }).waitFor()

    await page.goto(at)
    await rows(page).last().getByText('and one more').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    const saved = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n')
    expect(saved.filter((line) => / prints\/deploy-items\/one STDOUT line \d+/.test(line))).toHaveLength(LINES)
    expect(complaints).toEqual([])
  } finally {
    stop.abort()
  }
})

test('there is a way to it from an object, and from the log; nothing matches only after all was searched', async () => {
  await using visited = await visit(here.browser, here.server, '/log', { width: 390 })
  const { page, complaints } = visited
  await goToFolded(page, 'Output')
  await page.getByRole('heading', { name: 'Output', level: 1 }).waitFor()
  await page.getByLabel('Search').fill('nobody-prints-this')
  await page.getByText('Nothing matches.').waitFor()
  expect(await widerBy(page)).toBeLessThanOrEqual(0)
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Show all output' }).click()
  await rows(page).first().waitFor()
  expect(complaints).toEqual([])
})

test('the panel of an object marks standard error, and reddens lines of errors alone', async () => {
  const stop = new AbortController()
  const { secret } = await ask(here.server.client, MUTATIONS.createToken, {
    ...{ name: 'tellers', role: 'AGENT', types: ['teller'] },
  })
  const client = createClient({ url: here.server.url, token: secret })
  const agent = runAgent({
    ...{ client, instance: 'teller', types: ['teller'], signal: stop.signal },
    work(_item, { log }) {
      log('STDOUT', 'plain')
      log('STDERR', '10 % are done')
      log('STDERR', 'ERROR the disk is full')
      return { phase: 'SUCCEEDED' }
    },
  })
  try {
    const root = await create(here.server.client, 'tells', { deployItems: [{ name: 'one', type: 'teller' }] })
    await using visited = await visit(here.browser, here.server, `/tree/${root}`)
    const { page, complaints } = visited
    await page.locator('.node', { hasText: 'one' }).click()
    const output = page.getByRole('region', { name: 'Output' })
    await output.getByText('ERROR the disk is full').waitFor()
    const colours = await output
      .locator('.lines > div')
      .evaluateAll((lines) => lines.map((line) => getComputedStyle(line).color))
    expect(colours).toHaveLength(3)
    expect(colours[1]).toBe(colours[0])
    expect(colours[2]).not.toBe(colours[0])
    const marks = await output
      .locator('.lines > div')
      .evaluateAll((lines) => lines.map((line) => getComputedStyle(line, '::before').content))
    expect(marks).toEqual(['none', '"stderr "', '"stderr "'])
    const spare = await output.getByLabel('Search the output').evaluate((field: HTMLInputElement) => {
      const style = getComputedStyle(field)
      const pen = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D
      pen.font = style.font
      const room = field.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight)
      return room - pen.measureText(field.placeholder).width
    })
    expect(spare).toBeGreaterThan(0)
    expect(complaints).toEqual([])
  } finally {
    stop.abort()
    await agent
    await client.close()
  }
})
