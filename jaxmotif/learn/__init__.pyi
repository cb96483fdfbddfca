from jaxmotif.learn._data import read_tu as read_tu
from jaxmotif.learn._sklearn import GraphletFeatures as GraphletFeatures
from jaxmotif.learn._sklearn import GraphletKernel as GraphletKernel
from jaxmotif.learn._sklearn import OrbitFeatures as OrbitFeatures
from jaxmotif.learn._sklearn import PatternFeatures as PatternFeatures
from jaxmotif.learn._sklearn import WeisfeilerLehmanKernel as WeisfeilerLehmanKernel
