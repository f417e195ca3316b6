import { conformance } from './conformance.ts'

conformance('TypeScript')
