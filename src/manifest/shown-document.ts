import { z } from 'zod'

/** e.g. NOTIFICATION_RULE for NotificationRule: the `kind` that the API, and so `get`, has for what a manifest makes. */
export const shownKind = (kind: string): string => kind.replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toUpperCase()

const NOT_SHOWN = 'is not as `get` prints it'
const NESTED = 'must be null: what is nested is in the manifest of its root'

/**
 * Reads what `get` prints of an object: the manifest in it. All else is the state that the server had, and is ignored.
 * @param schema of the manifest
 * @param manifest the manifest of an object as the API shows it
 */
export const shownDocument = <T>(schema: z.ZodType<T>, manifest: (shown: object) => object): z.ZodType<T> =>
  z
    .custom<object>()
    .transform((shown: object, context): unknown => {
      if ('parent' in shown && shown.parent !== null)
        context.addIssue({ code: 'custom', path: ['parent'], message: NESTED })
      try {
        return manifest(shown)
      } catch (error) {
        // An edit may have taken away what the manifest is made of. A reader above reports one that is nested too deep.
        if (!(error instanceof TypeError)) throw error
        context.addIssue({ code: 'custom', message: NOT_SHOWN })
        return z.NEVER
      }
    })
    .pipe(schema)
