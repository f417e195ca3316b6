import type { Viewer } from '../../core/ports/viewer.ts'
import type { Tokens } from '../../graphql/auth/tokens.ts'

/** The tokens of those viewers alone: all others are as good as unknown. */
export const tokensOf = (tokens: Tokens, accepts: (viewer: Viewer) => boolean): Tokens => ({
  ...tokens,
  async authenticate(secret) {
    const viewer = await tokens.authenticate(secret)
    return viewer && accepts(viewer) ? viewer : null
  },
})
