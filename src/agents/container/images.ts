import { readFile } from 'node:fs/promises'
import type Docker from 'dockerode'
import { z } from 'zod'
import { asError } from '../../client/as-error.ts'
import { codeOf } from '../../process/error-code.ts'
import { orAborted } from '../or-aborted.ts'
import { reasonOf, statusOf } from './engine.ts'
import type { EngineOptions } from './options.ts'

const PULL_MS = 600_000
/** The name under which Docker's own registry has its credentials. */
const DOCKER_HUB = 'https://index.docker.io/v1/'

const registries = z.object({ auths: z.record(z.string(), z.object({ auth: z.string() })).default({}) })

/** Why an image cannot be had. The message holds no secret. */
export class ImageProblem extends Error {
  override name = 'ImageProblem'
}

/** Fetches images of containers. Containers that start at the same time share one transfer. */
export class Images {
  readonly #docker: Docker
  readonly #options: Pick<EngineOptions, 'pull' | 'registries'>
  readonly #pulling = new Map<string, Promise<void>>()

  constructor(docker: Docker, options: Pick<EngineOptions, 'pull' | 'registries'>) {
    this.#docker = docker
    this.#options = options
  }

  /**
   * Resolves when the engine has the image.
   * @throws ImageProblem; the reason of `signal` when it aborts, while the transfer continues for others
   */
  async provide(image: string, signal: AbortSignal): Promise<void> {
    const { pull } = this.#options
    if (pull !== 'always' && (await this.#isThere(image))) return
    if (pull === 'never')
      throw new ImageProblem(`The engine does not have its image ${image}, and may fetch none (pull: never).`)
    const pulling = this.#pulling.get(image) ?? this.#pull(image).finally(() => this.#pulling.delete(image))
    this.#pulling.set(image, pulling)
    await orAborted(pulling, signal)
    signal.throwIfAborted()
  }

  async #isThere(image: string): Promise<boolean> {
    try {
      await this.#docker.getImage(image).inspect()
      return true
    } catch (error) {
      if (statusOf(error) === 404) return false
      throw error
    }
  }

  async #pull(image: string): Promise<void> {
    const name = /[:@][^/]*$/.test(image) ? image : `${image}:latest`
    try {
      const authconfig = await this.#credentials(image)
      const abortSignal = AbortSignal.timeout(PULL_MS)
      const progress = await this.#docker.pull(name, { abortSignal, ...(authconfig ? { authconfig } : {}) })
      await this.#follow(progress)
    } catch (error) {
      throw new ImageProblem(`Its image ${name} cannot be had: ${reasonOf(asError(error))}`)
    }
  }

  /** The engine answers with 200, and reports failures in the progress. */
  #follow(progress: NodeJS.ReadableStream): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#docker.modem.followProgress(progress, (error, steps: readonly { readonly error?: string }[] | null) => {
        const failed = error ?? steps?.find((step) => step.error !== undefined)?.error
        if (failed) reject(asError(failed))
        else resolve()
      })
    })
  }

  /** Read for each transfer, since such files are replaced when passwords are. */
  async #credentials(image: string): Promise<{ username: string; password: string; serveraddress: string } | null> {
    const { registries: file } = this.#options
    if (file === null) return null
    const serveraddress = registryOf(image)
    const { auths } = await readRegistries(file)
    const auth = auths[serveraddress]?.auth
    if (auth === undefined) return null
    const [username = '', ...password] = Buffer.from(auth, 'base64').toString().split(':')
    return { username, password: password.join(':'), serveraddress }
  }
}

/** The first part of an image's name is a registry if it looks like the name of a host. */
function registryOf(image: string): string {
  const [host = '', ...rest] = image.split('/')
  return rest.length > 0 && (/[.:]/.test(host) || host === 'localhost') ? host : DOCKER_HUB
}

/** The error quotes nothing of the file, which holds passwords. */
async function readRegistries(file: string): Promise<z.infer<typeof registries>> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`the credentials of registries cannot be read: ${codeOf(error)}`)
  })
  try {
    return registries.parse(JSON.parse(text))
  } catch {
    throw new Error('the file with credentials of registries is not like Docker’s config.json')
  }
}
