// Transforms against their definition: powers of primes, products of large primes and small factors, and dimensions on both sides.
func.func @powers_of_two() {
  %j = stablehlo.iota dim = 0 : tensor<128x128xi64>
  %k = stablehlo.iota dim = 1 : tensor<128x128xi64>
  %product = stablehlo.multiply %j, %k : tensor<128x128xi64>
  %length = stablehlo.constant dense<128> : tensor<128x128xi64>
  %rest = stablehlo.remainder %product, %length : tensor<128x128xi64>
  %turns = stablehlo.convert %rest : (tensor<128x128xi64>) -> tensor<128x128xf64>
  %step = stablehlo.constant dense<-0.04908738521234052> : tensor<128x128xf64>
  %angle = stablehlo.multiply %turns, %step : tensor<128x128xf64>
  %cosine = stablehlo.cosine %angle : tensor<128x128xf64>
  %sine = stablehlo.sine %angle : tensor<128x128xf64>
  %matrix = stablehlo.complex %cosine, %sine : tensor<128x128xcomplex<f64>>
  %row = stablehlo.iota dim = 0 : tensor<128x2xi64>
  %column = stablehlo.iota dim = 1 : tensor<128x2xi64>
  %seven = stablehlo.constant dense<7> : tensor<128x2xi64>
  %more = stablehlo.add %column, %seven : tensor<128x2xi64>
  %square = stablehlo.multiply %row, %row : tensor<128x2xi64>
  %wide = stablehlo.multiply %square, %more : tensor<128x2xi64>
  %modulus = stablehlo.constant dense<23> : tensor<128x2xi64>
  %mixed = stablehlo.remainder %wide, %modulus : tensor<128x2xi64>
  %re = stablehlo.convert %mixed : (tensor<128x2xi64>) -> tensor<128x2xf64>
  %other = stablehlo.remainder %row, %more : tensor<128x2xi64>
  %im = stablehlo.convert %other : (tensor<128x2xi64>) -> tensor<128x2xf64>
  %x = stablehlo.complex %re, %im : tensor<128x2xcomplex<f64>>
  %expected = stablehlo.dot %matrix, %x : (tensor<128x128xcomplex<f64>>, tensor<128x2xcomplex<f64>>) -> tensor<128x2xcomplex<f64>>
  %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<128x2xcomplex<f64>>) -> tensor<2x128xcomplex<f64>>
  %spectrum = stablehlo.fft %turned, type = FFT, length = [128] : (tensor<2x128xcomplex<f64>>) -> tensor<2x128xcomplex<f64>>
  %found = stablehlo.transpose %spectrum, dims = [1, 0] : (tensor<2x128xcomplex<f64>>) -> tensor<128x2xcomplex<f64>>
  check.expect_almost_eq %found, %expected {tolerance = 1.0e-9 : f64} : tensor<128x2xcomplex<f64>>
  %back = stablehlo.fft %spectrum, type = IFFT, length = [128] : (tensor<2x128xcomplex<f64>>) -> tensor<2x128xcomplex<f64>>
  check.expect_almost_eq %back, %turned {tolerance = 1.0e-11 : f64} : tensor<2x128xcomplex<f64>>
  return
}

// -----

func.func @small_factors() {
  %j = stablehlo.iota dim = 0 : tensor<90x90xi64>
  %k = stablehlo.iota dim = 1 : tensor<90x90xi64>
  %product = stablehlo.multiply %j, %k : tensor<90x90xi64>
  %length = stablehlo.constant dense<90> : tensor<90x90xi64>
  %rest = stablehlo.remainder %product, %length : tensor<90x90xi64>
  %turns = stablehlo.convert %rest : (tensor<90x90xi64>) -> tensor<90x90xf64>
  %step = stablehlo.constant dense<-0.06981317007977318> : tensor<90x90xf64>
  %angle = stablehlo.multiply %turns, %step : tensor<90x90xf64>
  %cosine = stablehlo.cosine %angle : tensor<90x90xf64>
  %sine = stablehlo.sine %angle : tensor<90x90xf64>
  %matrix = stablehlo.complex %cosine, %sine : tensor<90x90xcomplex<f64>>
  %row = stablehlo.iota dim = 0 : tensor<90x2xi64>
  %column = stablehlo.iota dim = 1 : tensor<90x2xi64>
  %seven = stablehlo.constant dense<7> : tensor<90x2xi64>
  %more = stablehlo.add %column, %seven : tensor<90x2xi64>
  %square = stablehlo.multiply %row, %row : tensor<90x2xi64>
  %wide = stablehlo.multiply %square, %more : tensor<90x2xi64>
  %modulus = stablehlo.constant dense<23> : tensor<90x2xi64>
  %mixed = stablehlo.remainder %wide, %modulus : tensor<90x2xi64>
  %re = stablehlo.convert %mixed : (tensor<90x2xi64>) -> tensor<90x2xf64>
  %other = stablehlo.remainder %row, %more : tensor<90x2xi64>
  %im = stablehlo.convert %other : (tensor<90x2xi64>) -> tensor<90x2xf64>
  %x = stablehlo.complex %re, %im : tensor<90x2xcomplex<f64>>
  %expected = stablehlo.dot %matrix, %x : (tensor<90x90xcomplex<f64>>, tensor<90x2xcomplex<f64>>) -> tensor<90x2xcomplex<f64>>
  %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<90x2xcomplex<f64>>) -> tensor<2x90xcomplex<f64>>
  %spectrum = stablehlo.fft %turned, type = FFT, length = [90] : (tensor<2x90xcomplex<f64>>) -> tensor<2x90xcomplex<f64>>
  %found = stablehlo.transpose %spectrum, dims = [1, 0] : (tensor<2x90xcomplex<f64>>) -> tensor<90x2xcomplex<f64>>
  check.expect_almost_eq %found, %expected {tolerance = 1.0e-9 : f64} : tensor<90x2xcomplex<f64>>
  %back = stablehlo.fft %spectrum, type = IFFT, length = [90] : (tensor<2x90xcomplex<f64>>) -> tensor<2x90xcomplex<f64>>
  check.expect_almost_eq %back, %turned {tolerance = 1.0e-11 : f64} : tensor<2x90xcomplex<f64>>
  return
}

// -----

func.func @power_of_a_prime() {
  %j = stablehlo.iota dim = 0 : tensor<169x169xi64>
  %k = stablehlo.iota dim = 1 : tensor<169x169xi64>
  %product = stablehlo.multiply %j, %k : tensor<169x169xi64>
  %length = stablehlo.constant dense<169> : tensor<169x169xi64>
  %rest = stablehlo.remainder %product, %length : tensor<169x169xi64>
  %turns = stablehlo.convert %rest : (tensor<169x169xi64>) -> tensor<169x169xf64>
  %step = stablehlo.constant dense<-0.03717861128508631> : tensor<169x169xf64>
  %angle = stablehlo.multiply %turns, %step : tensor<169x169xf64>
  %cosine = stablehlo.cosine %angle : tensor<169x169xf64>
  %sine = stablehlo.sine %angle : tensor<169x169xf64>
  %matrix = stablehlo.complex %cosine, %sine : tensor<169x169xcomplex<f64>>
  %row = stablehlo.iota dim = 0 : tensor<169x1xi64>
  %column = stablehlo.iota dim = 1 : tensor<169x1xi64>
  %seven = stablehlo.constant dense<7> : tensor<169x1xi64>
  %more = stablehlo.add %column, %seven : tensor<169x1xi64>
  %square = stablehlo.multiply %row, %row : tensor<169x1xi64>
  %wide = stablehlo.multiply %square, %more : tensor<169x1xi64>
  %modulus = stablehlo.constant dense<23> : tensor<169x1xi64>
  %mixed = stablehlo.remainder %wide, %modulus : tensor<169x1xi64>
  %re = stablehlo.convert %mixed : (tensor<169x1xi64>) -> tensor<169x1xf64>
  %other = stablehlo.remainder %row, %more : tensor<169x1xi64>
  %im = stablehlo.convert %other : (tensor<169x1xi64>) -> tensor<169x1xf64>
  %x = stablehlo.complex %re, %im : tensor<169x1xcomplex<f64>>
  %expected = stablehlo.dot %matrix, %x : (tensor<169x169xcomplex<f64>>, tensor<169x1xcomplex<f64>>) -> tensor<169x1xcomplex<f64>>
  %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<169x1xcomplex<f64>>) -> tensor<1x169xcomplex<f64>>
  %spectrum = stablehlo.fft %turned, type = FFT, length = [169] : (tensor<1x169xcomplex<f64>>) -> tensor<1x169xcomplex<f64>>
  %found = stablehlo.transpose %spectrum, dims = [1, 0] : (tensor<1x169xcomplex<f64>>) -> tensor<169x1xcomplex<f64>>
  check.expect_almost_eq %found, %expected {tolerance = 1.0e-9 : f64} : tensor<169x1xcomplex<f64>>
  %back = stablehlo.fft %spectrum, type = IFFT, length = [169] : (tensor<1x169xcomplex<f64>>) -> tensor<1x169xcomplex<f64>>
  check.expect_almost_eq %back, %turned {tolerance = 1.0e-11 : f64} : tensor<1x169xcomplex<f64>>
  return
}

// -----

func.func @square_of_a_larger_prime() {
  %j = stablehlo.iota dim = 0 : tensor<289x289xi64>
  %k = stablehlo.iota dim = 1 : tensor<289x289xi64>
  %product = stablehlo.multiply %j, %k : tensor<289x289xi64>
  %length = stablehlo.constant dense<289> : tensor<289x289xi64>
  %rest = stablehlo.remainder %product, %length : tensor<289x289xi64>
  %turns = stablehlo.convert %rest : (tensor<289x289xi64>) -> tensor<289x289xf64>
  %step = stablehlo.constant dense<-0.02174112563037919> : tensor<289x289xf64>
  %angle = stablehlo.multiply %turns, %step : tensor<289x289xf64>
  %cosine = stablehlo.cosine %angle : tensor<289x289xf64>
  %sine = stablehlo.sine %angle : tensor<289x289xf64>
  %matrix = stablehlo.complex %cosine, %sine : tensor<289x289xcomplex<f64>>
  %row = stablehlo.iota dim = 0 : tensor<289x1xi64>
  %column = stablehlo.iota dim = 1 : tensor<289x1xi64>
  %seven = stablehlo.constant dense<7> : tensor<289x1xi64>
  %more = stablehlo.add %column, %seven : tensor<289x1xi64>
  %square = stablehlo.multiply %row, %row : tensor<289x1xi64>
  %wide = stablehlo.multiply %square, %more : tensor<289x1xi64>
  %modulus = stablehlo.constant dense<23> : tensor<289x1xi64>
  %mixed = stablehlo.remainder %wide, %modulus : tensor<289x1xi64>
  %re = stablehlo.convert %mixed : (tensor<289x1xi64>) -> tensor<289x1xf64>
  %other = stablehlo.remainder %row, %more : tensor<289x1xi64>
  %im = stablehlo.convert %other : (tensor<289x1xi64>) -> tensor<289x1xf64>
  %x = stablehlo.complex %re, %im : tensor<289x1xcomplex<f64>>
  %expected = stablehlo.dot %matrix, %x : (tensor<289x289xcomplex<f64>>, tensor<289x1xcomplex<f64>>) -> tensor<289x1xcomplex<f64>>
  %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<289x1xcomplex<f64>>) -> tensor<1x289xcomplex<f64>>
  %spectrum = stablehlo.fft %turned, type = FFT, length = [289] : (tensor<1x289xcomplex<f64>>) -> tensor<1x289xcomplex<f64>>
  %found = stablehlo.transpose %spectrum, dims = [1, 0] : (tensor<1x289xcomplex<f64>>) -> tensor<289x1xcomplex<f64>>
  check.expect_almost_eq %found, %expected {tolerance = 1.0e-9 : f64} : tensor<289x1xcomplex<f64>>
  %back = stablehlo.fft %spectrum, type = IFFT, length = [289] : (tensor<1x289xcomplex<f64>>) -> tensor<1x289xcomplex<f64>>
  check.expect_almost_eq %back, %turned {tolerance = 1.0e-11 : f64} : tensor<1x289xcomplex<f64>>
  return
}

// -----

func.func @small_and_large_prime() {
  %j = stablehlo.iota dim = 0 : tensor<393x393xi64>
  %k = stablehlo.iota dim = 1 : tensor<393x393xi64>
  %product = stablehlo.multiply %j, %k : tensor<393x393xi64>
  %length = stablehlo.constant dense<393> : tensor<393x393xi64>
  %rest = stablehlo.remainder %product, %length : tensor<393x393xi64>
  %turns = stablehlo.convert %rest : (tensor<393x393xi64>) -> tensor<393x393xf64>
  %step = stablehlo.constant dense<-0.015987748873230498> : tensor<393x393xf64>
  %angle = stablehlo.multiply %turns, %step : tensor<393x393xf64>
  %cosine = stablehlo.cosine %angle : tensor<393x393xf64>
  %sine = stablehlo.sine %angle : tensor<393x393xf64>
  %matrix = stablehlo.complex %cosine, %sine : tensor<393x393xcomplex<f64>>
  %row = stablehlo.iota dim = 0 : tensor<393x2xi64>
  %column = stablehlo.iota dim = 1 : tensor<393x2xi64>
  %seven = stablehlo.constant dense<7> : tensor<393x2xi64>
  %more = stablehlo.add %column, %seven : tensor<393x2xi64>
  %square = stablehlo.multiply %row, %row : tensor<393x2xi64>
  %wide = stablehlo.multiply %square, %more : tensor<393x2xi64>
  %modulus = stablehlo.constant dense<23> : tensor<393x2xi64>
  %mixed = stablehlo.remainder %wide, %modulus : tensor<393x2xi64>
  %re = stablehlo.convert %mixed : (tensor<393x2xi64>) -> tensor<393x2xf64>
  %other = stablehlo.remainder %row, %more : tensor<393x2xi64>
  %im = stablehlo.convert %other : (tensor<393x2xi64>) -> tensor<393x2xf64>
  %x = stablehlo.complex %re, %im : tensor<393x2xcomplex<f64>>
  %expected = stablehlo.dot %matrix, %x : (tensor<393x393xcomplex<f64>>, tensor<393x2xcomplex<f64>>) -> tensor<393x2xcomplex<f64>>
  %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<393x2xcomplex<f64>>) -> tensor<2x393xcomplex<f64>>
  %spectrum = stablehlo.fft %turned, type = FFT, length = [393] : (tensor<2x393xcomplex<f64>>) -> tensor<2x393xcomplex<f64>>
  %found = stablehlo.transpose %spectrum, dims = [1, 0] : (tensor<2x393xcomplex<f64>>) -> tensor<393x2xcomplex<f64>>
  check.expect_almost_eq %found, %expected {tolerance = 1.0e-9 : f64} : tensor<393x2xcomplex<f64>>
  %back = stablehlo.fft %spectrum, type = IFFT, length = [393] : (tensor<2x393xcomplex<f64>>) -> tensor<2x393xcomplex<f64>>
  check.expect_almost_eq %back, %turned {tolerance = 1.0e-11 : f64} : tensor<2x393xcomplex<f64>>
  return
}

// -----

func.func @power_of_three() {
  %j = stablehlo.iota dim = 0 : tensor<243x243xi64>
  %k = stablehlo.iota dim = 1 : tensor<243x243xi64>
  %product = stablehlo.multiply %j, %k : tensor<243x243xi64>
  %length = stablehlo.constant dense<243> : tensor<243x243xi64>
  %rest = stablehlo.remainder %product, %length : tensor<243x243xi64>
  %turns = stablehlo.convert %rest : (tensor<243x243xi64>) -> tensor<243x243xf64>
  %step = stablehlo.constant dense<-0.02585672965917525> : tensor<243x243xf64>
  %angle = stablehlo.multiply %turns, %step : tensor<243x243xf64>
  %cosine = stablehlo.cosine %angle : tensor<243x243xf64>
  %sine = stablehlo.sine %angle : tensor<243x243xf64>
  %matrix = stablehlo.complex %cosine, %sine : tensor<243x243xcomplex<f64>>
  %row = stablehlo.iota dim = 0 : tensor<243x1xi64>
  %column = stablehlo.iota dim = 1 : tensor<243x1xi64>
  %seven = stablehlo.constant dense<7> : tensor<243x1xi64>
  %more = stablehlo.add %column, %seven : tensor<243x1xi64>
  %square = stablehlo.multiply %row, %row : tensor<243x1xi64>
  %wide = stablehlo.multiply %square, %more : tensor<243x1xi64>
  %modulus = stablehlo.constant dense<23> : tensor<243x1xi64>
  %mixed = stablehlo.remainder %wide, %modulus : tensor<243x1xi64>
  %re = stablehlo.convert %mixed : (tensor<243x1xi64>) -> tensor<243x1xf64>
  %other = stablehlo.remainder %row, %more : tensor<243x1xi64>
  %im = stablehlo.convert %other : (tensor<243x1xi64>) -> tensor<243x1xf64>
  %x = stablehlo.complex %re, %im : tensor<243x1xcomplex<f64>>
  %expected = stablehlo.dot %matrix, %x : (tensor<243x243xcomplex<f64>>, tensor<243x1xcomplex<f64>>) -> tensor<243x1xcomplex<f64>>
  %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<243x1xcomplex<f64>>) -> tensor<1x243xcomplex<f64>>
  %spectrum = stablehlo.fft %turned, type = FFT, length = [243] : (tensor<1x243xcomplex<f64>>) -> tensor<1x243xcomplex<f64>>
  %found = stablehlo.transpose %spectrum, dims = [1, 0] : (tensor<1x243xcomplex<f64>>) -> tensor<243x1xcomplex<f64>>
  check.expect_almost_eq %found, %expected {tolerance = 1.0e-9 : f64} : tensor<243x1xcomplex<f64>>
  %back = stablehlo.fft %spectrum, type = IFFT, length = [243] : (tensor<1x243xcomplex<f64>>) -> tensor<1x243xcomplex<f64>>
  check.expect_almost_eq %back, %turned {tolerance = 1.0e-11 : f64} : tensor<1x243xcomplex<f64>>
  return
}
