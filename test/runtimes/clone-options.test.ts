import { describe, expect, test } from 'vitest'
import { cloneEnv, credentialLine } from '../../src/agents/git/clone.ts'
import { readCloneOptions } from '../../src/agents/git/clone-options.ts'
import { requirePermitted } from '../../src/families/pipelines/agents/runtime/clone.ts'

const isPermitted = (url: string, hosts: string): boolean => {
  try {
    requirePermitted(url, readCloneOptions({ 'clone-hosts': hosts }, []))
    return true
  } catch {
    return false
  }
}

describe('a repository', () => {
  test.each([
    ['https://git.example.com/app', '*', true],
    ['https://git.example.com/app', 'git.example.com', true],
    ['https://git.example.com/app', '*.example.com', true],
    ['https://example.com/app', '*.example.com', false],
    ['https://evil-example.com/app', '*.example.com,example.com', false],
    ['https://git.example.com:8443/app', 'git.example.com', false],
    ['https://git.example.com:8443/app', 'git.example.com:8443', true],
    ['https://git.example.com@evil.example/app', 'git.example.com', false],
    ['https://git.example.com/app', '', false],
    ['http://git.example.com/app', '*,git.example.com', false],
    ['http://git.example.com/app', 'http://git.example.com', true],
    ['file:///srv/git/app', '*', false],
    ['file:///srv/git/app', 'file:///srv/git', true],
    ['file:///srv/git', 'file:///srv/git/', true],
    ['file:///srv/gitea/app', 'file:///srv/git', false],
    ['file:///srv/git/../../etc', 'file:///srv/git', false],
    ['file:///srv/git/..%2f..%2fetc', 'file:///srv/git', false],
    ['file:///srv/git/%', 'file:///srv/git', false],
    ['ext::sh -c id', '*', false],
    // A backslash ends the host for a browser, and is part of a user's name for Git.
    ['http://git.example.com\\@127.0.0.1:3000/app', 'http://git.example.com', false],
    ['https://git.example.com\\@127.0.0.1/app', '*', false],
    ['file://other/srv/git/app', 'file:///srv/git', false],
    ['ssh://git.example.com/app', '*', false],
  ])('%s with --clone-hosts %s is permitted: %s', (url, hosts, expected) => {
    expect(isPermitted(url, hosts)).toBe(expected)
  })

  test('Git gets the address that was judged, and finds the credentials of its host', () => {
    const repository = {
      ...{ url: 'HTTPS://GIT.Example.com:443/srv/../app', ref: null, depth: 1, path: null },
      ...{ credentials: 'robot:x', problem: null },
    }
    const { CLONE_URL } = cloneEnv(repository, readCloneOptions({}, ['*']))
    expect(CLONE_URL).toBe('https://git.example.com/app')
    expect(credentialLine(repository)).toBe('https://robot:x@git.example.com\n')
  })

  test('bounds of its size and its time are read, and wrong ones refused', () => {
    expect(readCloneOptions({ 'clone-size': '500m', 'clone-seconds': '9' }, ['*'])).toEqual({
      ...{ hosts: ['*'], maxBytes: 500 * 1024 ** 2, seconds: 9 },
    })
    expect(() => readCloneOptions({ 'clone-size': 'all' }, [])).toThrow(/--clone-size/)
    expect(() => readCloneOptions({ 'clone-seconds': '0' }, [])).toThrow(/--clone-seconds/)
  })
})
