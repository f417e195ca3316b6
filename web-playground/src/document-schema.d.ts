/** Made by `document-schema.ts` beside the configuration of Vite. */
declare module 'virtual:document-schema' {
  import type { JsonSchema } from 'phaseline/manifest'

  const schema: JsonSchema & { readonly definitions: Readonly<Record<string, JsonSchema>> }
  export default schema
}
