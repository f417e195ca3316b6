import { boundsItsAnswers, conformance, survivesExits } from './conformance.ts'

conformance('Python')
boundsItsAnswers('Python')
survivesExits('Python', 'work that calls sys.exit fails alone', 'exit(3)')
