import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Certificates of a private authority, made by openssl in a folder. */
export interface Authority {
  /** The file of its certificate. */
  readonly caFile: string
  /** Makes a pair `tls.crt` and `tls.key` for 127.0.0.1 and phaseline.test in a folder of this name, and returns the folder. */
  issue(name: string): Promise<string>
}

export async function createAuthority(folder: string): Promise<Authority> {
  if (spawnSync('openssl', ['version']).status !== 0)
    throw new Error('these tests need openssl: apt-get install openssl')
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...KEY, '-subj', '/CN=test authority', '-days', '2', '-keyout', 'ca.key', '-out', 'ca.crt')
  await writeFile(join(folder, 'names.cnf'), 'subjectAltName=IP:127.0.0.1,DNS:phaseline.test\n')
  return {
    caFile: join(folder, 'ca.crt'),
    async issue(name) {
      await mkdir(join(folder, name))
      openssl('req', ...KEY, '-subj', `/CN=${name}`, '-keyout', `${name}/tls.key`, '-out', `${name}.csr`)
      const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1', '-extfile', 'names.cnf']
      openssl('x509', '-req', '-in', `${name}.csr`, ...signing, '-out', `${name}/tls.crt`)
      return join(folder, name)
    },
  }
}
