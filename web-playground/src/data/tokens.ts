import { readPages } from 'phaseline/client-model'
import type { Token } from '../model/tokens.ts'
import type { Question } from './asked-store.ts'
import { TOKENS } from './documents-tokens.ts'

/** Tokens, the newest first; none where the viewer may not see them. They change without a phase change. */
export const TOKENS_NOW: Question<readonly Token[]> = {
  concerns: () => false,
  async ask({ client }, signal) {
    const listed = await readPages(Number.POSITIVE_INFINITY, async (_, after) => {
      const { tokensConnection } = await client.query(TOKENS, { after }, { signal })
      return tokensConnection
    })
    return listed?.nodes ?? []
  },
}
