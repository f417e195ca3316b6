import { conformance } from './conformance.ts'

conformance('Python')
