"""Certificates of counts, as the jobs write them (internal); :mod:`jaxmotif.verify` checks them."""

from jaxmotif.certificates._write import CertificateFile, certify_census, certify_graphlets, certify_matches

__all__ = ["CertificateFile", "certify_census", "certify_graphlets", "certify_matches"]
