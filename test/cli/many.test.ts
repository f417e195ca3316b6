import { expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { commandLine, documents } from './command.ts'

test('a verb is asked of all of a project, or of those with labels, after a question or with --yes', async () => {
  await using server = await startTestApp()
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  for (const project of ['web', 'kept']) expect(await phaseline(`project create ${project}`)).toMatchObject({ code: 0 })
  const manifest = (project: string, name: string, app: string, config: object = {}) => ({
    ...{ project, name, labels: { app } },
    spec: { deployItems: [{ name: 'db', type: 'mock', config }], installations: [] },
  })
  const manifests = [
    ...['a', 'b'].map((name) => manifest('web', name, 'shop')),
    ...[manifest('web', 'c', 'other'), manifest('web', 'hangs', 'slow', { hang: true }), manifest('kept', 'a', 'shop')],
  ]
  for (const one of manifests)
    expect(await phaseline('apply -f -', { stdin: JSON.stringify(one) })).toMatchObject({ code: 0 })
  for (const name of ['web/a', 'web/b', 'web/c']) expect(await phaseline(`watch ${name}`)).toMatchObject({ code: 0 })
  const names = async (flags = '') =>
    (await phaseline(`get -o name ${flags}`.trim())).out.trimEnd().split('\n').toSorted()

  // A selection is neither guessed nor mixed with names, and takes a confirmation.
  for (const [args, why] of [
    ['delete', 'Name an object'],
    ['delete web/a --all', 'names or a selection'],
    ['delete web/a --dry-run', '--dry-run'],
    ['delete --all --project web', '--yes'],
    ['retry --all --now --yes', 'takes names'],
    ['reconcile --all --mode force --yes', 'takes names'],
  ] as const)
    expect(await phaseline(args)).toMatchObject({ code: 2, err: expect.stringContaining(why) })
  expect(documents((await phaseline('cancel web/a -l a=b --json')).out)).toMatchObject([
    { error: { code: 'INVALID_INPUT' } },
  ])

  const dry = await phaseline('delete -l app=shop --project web --dry-run')
  expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/^delete would be asked of 2 objects\n/) })
  const no = await phaseline('delete -l app=shop --project web', { typed: 'n\n' })
  expect(no).toMatchObject({ code: 130, err: 'Delete 2 installations of project web? [y/N] ' })
  expect(await names()).toEqual(['kept/a', 'web/a', 'web/b', 'web/c', 'web/hangs'])

  const reconciled = await phaseline('reconcile -l app=other --project web --wait --yes')
  expect(reconciled).toMatchObject({ code: 0, out: expect.stringContaining('reconcile asked of 1 object, 1 done\n') })
  expect(reconciled.out).toContain('succeeded')
  // Only what the verb is for: three of four have ended.
  expect(await phaseline('cancel --all --project web --reason enough --yes --wait')).toMatchObject({
    code: 0,
    out: expect.stringContaining('cancel asked of 1 object, 1 done\n'),
  })
  expect((await phaseline('log web/hangs --search enough')).out).toContain('enough')
  expect((await phaseline('retry --all --project web --dry-run')).out).toMatch(/^retry would be asked of 1 object\n/)

  expect(await phaseline('delete -l app=shop --project web --wait', { typed: 'y\n' })).toMatchObject({ code: 0 })
  expect(await names()).toEqual(['kept/a', 'web/c', 'web/hangs'])
  // Nothing is left of a selection that nothing has refused, so that the project can go.
  const all = await phaseline('delete --all --project web --yes --wait --json')
  expect(documents(all.out)[0]).toMatchObject({
    verb: 'delete',
    project: 'web',
    counts: { all: 2, done: 2 },
    refused: [],
  })
  expect(await names()).toEqual(['kept/a'])
  expect(await phaseline('delete --all --project web --yes')).toMatchObject({ code: 0, err: 'Nothing matches.\n' })
  expect(await phaseline('project delete web')).toMatchObject({ code: 0 })
})

test('what refuses is listed with its reason, and the operation stays with all outcomes', async () => {
  await using server = await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } })
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const task = { name: 'waits', jobs: [{ name: 'first', gadget: 'nobody-has' }] }
  expect(await phaseline('task run -f -', { stdin: JSON.stringify(task) })).toMatchObject({ code: 0 })
  const empty = { name: 'empty', spec: {} }
  expect(await phaseline('apply -f - --wait', { stdin: JSON.stringify(empty) })).toMatchObject({ code: 0 })

  const asked = await phaseline('delete --all', { typed: 'y\n' })
  expect(asked.err).toContain('Delete 1 installation and 1 task of project default? [y/N] ')
  expect(asked).toMatchObject({
    code: 3,
    out: expect.stringMatching(/^delete asked of 2 objects, 1 done, 1 refused\n/),
  })
  expect(asked.out).toMatch(/TASK +waits +REFUSED +TRANSITION: /)
  const [, name = ''] = /bulk show (\S+)/.exec(asked.err) ?? []
  expect(await phaseline(`bulk show ${name}`)).toMatchObject({ code: 0, out: expect.stringContaining('empty') })

  expect(await phaseline('retry --all --kind event --yes')).toMatchObject({ code: 0, err: 'Nothing matches.\n' })
  for (const kind of ['nothing', 'execution'])
    expect(await phaseline(`cancel --all --kind ${kind} --yes`)).toMatchObject({ code: 2 })
})
