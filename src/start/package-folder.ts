import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

const MIGRATIONS = 'prisma/migrations'

/** The package's own folder, whether it runs as source or built. */
const PACKAGE = packageOf(import.meta.dirname)

export const MIGRATIONS_FOLDER = join(PACKAGE, MIGRATIONS)
export const DASHBOARD_FOLDER = join(PACKAGE, 'web-playground/dist')
export const DOCUMENTATION_FOLDER = join(PACKAGE, 'docs-dist')
/** It has the descriptions of the API. */
export const PACKAGE_FOLDER = PACKAGE
export const WEBSHOP_EXAMPLE = join(PACKAGE, 'examples/webshop')

function packageOf(folder: string): string {
  return existsSync(join(folder, MIGRATIONS)) ? folder : packageOf(dirname(folder))
}
