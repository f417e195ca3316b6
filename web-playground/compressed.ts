import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const COMPRESSIBLE = /\.(js|css|svg)$/

/** Writes a `.gz` and a `.br` beside each asset, so that the server need not compress. */
export function compressed(): Plugin {
  return {
    name: 'phaseline-compressed',
    apply: 'build',
    async writeBundle({ dir }) {
      const folder = join(dir ?? '', 'assets')
      const files = (await readdir(folder)).filter((file) => COMPRESSIBLE.test(file))
      await Promise.all(
        files.map(async (file) => {
          const body = await readFile(join(folder, file))
          await writeFile(join(folder, `${file}.gz`), await promisify(gzip)(body, { level: 9 }))
          // Browsers accept it over HTTPS and on loopback only.
          await writeFile(join(folder, `${file}.br`), await promisify(brotliCompress)(body))
        }),
      )
    },
  }
}
