import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { sharedName } from '../../../../src/families/deployments/agents/container/container-of.ts'
import { engineSocket, IMAGE, provideImage, provideImageWith } from '../../../testkit/container-engine.ts'
import { itemPlace, script } from './item-place.ts'

const socket = engineSocket()
const CHECKED = 'localhost/phaseline-test-checked:1'
const SUCCEEDED = { outcome: { phase: 'SUCCEEDED' } }
const BASE = { mode: 'service', image: IMAGE, memory: '64m', pids: 64, graceMs: 1_000 }
const WAIT = `trap "exit 0" TERM; while true; do sleep 0.1; done`
const service = (text: string, more: object = {}) => ({ ...BASE, command: ['sh', '-c', text], ...more })
/** A server whose page says who answers. */
const server = (text: string, more: object) =>
  service(`echo ${text} > /tmp/index.html; exec busybox httpd -f -p 8080 -h /tmp`, more)

/** A static busybox cannot look names up by its C library; its `nslookup` does, and takes a search domain for an answer. */
const fetchFrom = (name: string) => `
  at=$(busybox nslookup -type=a ${name}. | busybox awk '/^Name:/ { found = 1 } /^Address: / && found { print $2; exit }')
  test -n "$at" || { echo no such name >&2; exit 1; }
  printf 'GET /index.html HTTP/1.0\\r\\n\\r\\n' | busybox nc -w 5 $at 8080 | busybox tail -n 1 >&2`

describe.runIf(socket !== null)('volumes, networks and settings of containers', { concurrent: true }, () => {
  const place = () => itemPlace(socket ?? '')
  beforeAll(async () => {
    await provideImage(socket ?? '')
    // The check itself makes a service ready that wants to be: times of a loaded machine decide nothing.
    const check = 'test -e /tmp/ready || { busybox mv /tmp/wants /tmp/ready; exit 1; }'
    const Healthcheck = { Test: ['CMD-SHELL', check], Interval: 1e8, Timeout: 5e9, Retries: 5 }
    await provideImageWith(socket ?? '', CHECKED, { Healthcheck, Env: ['PATH=/bin'] })
  })

  test('a volume outlives its container, and is shared in its project and no other', async () => {
    await using one = await place()
    await using other = await place()
    const [project, elsewhere] = [{ projectId: randomUUID() }, { projectId: randomUUID() }]
    const [volume, volumes] = [{ name: 'data', path: '/data' }, [{ name: 'data', path: '/data', readOnly: true }]]
    const config = service(`echo first >> /data/log; ${WAIT}`, { volumes: [volume] })
    expect(await one.deploy(config, project)).toMatchObject(SUCCEEDED)
    const first = (await one.inspect())?.Id
    expect(await one.deploy({ ...config, env: { A: 1 } }, project)).toMatchObject(SUCCEEDED)
    expect((await one.inspect())?.Id).not.toBe(first)
    const read = script('cat /data/log >&2', { volumes })
    expect((await other.deploy(read, project)).lines).toEqual(['STDERR first', 'STDERR first'])
    expect((await other.deploy(read, elsewhere)).error).toMatch(/^CONTAINER_FAILED: .*\n.*No such file/)
    const write = script('echo x > /data/log', { volumes })
    expect((await other.deploy(write, project)).error).toMatch(/Read-only file system/)

    const away = { volumes: [{ ...volume, onDelete: 'remove' }] }
    expect((await one.remove({ ...config, ...away }, project)).lines).toEqual([
      'STEP The volume data stays: another has it',
    ])
    expect((await other.remove(read, project)).lines).toEqual(['STEP The volume data stays: the config keeps it'])
    expect((await other.remove({ ...read, ...away }, project)).lines).toEqual(['STEP The volume data is removed'])
    await other.remove({ ...read, ...away }, elsewhere)
    const { Volumes } = await one.docker.listVolumes()
    const ours = [project, elsewhere].map(({ projectId }) => sharedName(projectId, 'data'))
    expect(Volumes.filter(({ Name }) => ours.includes(Name))).toEqual([])
  })

  test('services find each other by name in the networks of their project; the last one to leave removes them', async () => {
    await using db = await place()
    await using web = await place()
    await using stranger = await place()
    const project = { projectId: randomUUID() }
    const networks = ['front', 'back']
    const ports = [{ container: 8_080 }]
    const health = { http: { path: '/index.html' }, intervalMs: 200 }
    const inBack = { ...{ networks: ['back'], aliases: ['database.local'] }, ports, health }
    const deployed = await db.deploy(server('from-db', inBack), { ...project, name: 'db' })
    expect(deployed).toMatchObject(SUCCEEDED)
    const ask = (name: string, more: object = {}) => script(fetchFrom(name), { networks, ...more })
    expect(await web.deploy(ask('db'), project)).toMatchObject({ lines: ['STDERR from-db'] })
    expect((await web.deploy(ask('database.local'), project)).lines).toEqual(['STDERR from-db'])
    expect((await web.deploy(ask('db', { networks: ['front'] }), project)).error).toMatch(/no such name/)
    const other = { projectId: randomUUID() }
    expect((await stranger.deploy(ask('db'), other)).error).toMatch(/no such name/)

    // A container that was disconnected by hand is put back.
    const back = sharedName(project.projectId, 'back')
    await db.docker.getNetwork(back).disconnect({ Container: db.name, Force: true })
    const again = await db.deploy(server('from-db', inBack), { ...project, name: 'db' })
    expect(again.lines[0]).toBe('STEP The container is replaced: it was changed from outside')
    expect(await web.deploy(ask('db'), project)).toMatchObject({ lines: ['STDERR from-db'] })

    const left = async () =>
      (await db.docker.listNetworks()).map(({ Name }) => Name).filter((name) => name.includes(project.projectId))
    await db.remove({}, project)
    expect((await left()).sort()).toEqual([back, sharedName(project.projectId, 'front')])
    await web.remove({}, project)
    expect(await left()).toEqual([])
    await stranger.remove({}, other)
  })

  test('files, any variable, folders in memory and a few capabilities are there; a changed file replaces a service', async () => {
    await using at = await place()
    const look =
      'cat /etc/app/app.conf; cat /proc/1/environ | tr "\\0" "\\n"; cat /proc/self/status; echo x > /run/app/x && echo made'
    const config = script(`(${look}) >&2; echo x > /etc/app/app.conf`, {
      ...{ files: { '/etc/app/app.conf': 'mode=on\n' }, env: { 'discovery.type': 'single-node' }, tmpfs: ['/run/app'] },
      capabilities: ['CHOWN', 'SETUID'],
    })
    const { lines, error } = await at.deploy(config)
    expect(error).toMatch(/^CONTAINER_FAILED/)
    for (const line of ['mode=on', 'discovery.type=single-node', 'made']) expect(lines).toContain(`STDERR ${line}`)
    expect(lines.join('\n')).toMatch(/CapBnd:\t0{13}081$/m)
    expect(lines.join('\n')).toMatch(/NoNewPrivs:\t1$/m)
    expect(lines.join('\n')).toMatch(/Read-only file system/)
    const container = await at.inspect()
    expect(JSON.stringify(container)).not.toContain('mode=on')

    const kept = service(WAIT, { files: { '/etc/app.conf': 'one' } })
    expect(await at.deploy(kept)).toMatchObject(SUCCEEDED)
    expect((await at.deploy(kept)).lines).toEqual(['STEP The container is unchanged'])
    const changed = await at.deploy({ ...kept, files: { '/etc/app.conf': 'two' } })
    expect(changed.lines[0]).toBe('STEP The container is replaced: its files have changed')
    const inTmp = script('test $PWD = /tmp && echo x > /tmp/x && echo kept >&2', {
      workingDir: '/tmp',
      volumes: [{ name: 'tmp', path: '/tmp', onDelete: 'remove' }],
    })
    const project = { projectId: randomUUID() }
    expect((await at.deploy(inTmp, project)).lines).toEqual(['STDERR kept'])
    expect((await at.remove(inTmp, project)).outcome).toEqual({ phase: 'GONE' })
    const twice = { ...kept, tmpfs: ['/etc/app.conf'] }
    expect((await at.deploy(twice)).error).toMatch(/^CONTAINER_CONFIG: config: \/etc\/app.conf is the path of more/)
    await at.remove(kept)
    expect(await at.leftovers()).toEqual([])
  })

  test('the check of the image decides when there is no other, and a restart policy holds', async () => {
    await using at = await place()
    const checked = (text: string) => service(text, { image: CHECKED, network: 'none' })
    const working = at.begin(checked(`echo > /tmp/wants; ${WAIT}`))
    expect(await working.worked).toMatchObject(SUCCEEDED)
    expect(working.steps).toContain('Not healthy yet: Its check ends with exit code 1. 1/5')
    expect((await at.deploy(checked(WAIT))).error).toMatch(/^CONTAINER_UNHEALTHY: Its check ends with exit code 1/)

    const config = service(WAIT, { network: 'none', restart: 'on-failure' })
    expect(await at.deploy(config)).toMatchObject(SUCCEEDED)
    expect((await at.inspect())?.HostConfig.RestartPolicy?.Name).toBe('on-failure')
    const always = await at.deploy({ ...config, restart: 'always' })
    expect(always.lines[0]).toBe('STEP The container is replaced: it was changed from outside')
    expect((await at.inspect())?.HostConfig.RestartPolicy?.Name).toBe('always')
  })
})
